# TCP over a dumbbell at 10 Mb/s in ns-2.35: N flows of one flavour, 60 s, starts uniform in the first second.
# ns dumbbell.tcl VARIANT N ALPHA BETA OVERHEAD SEED, for example: ns dumbbell.tcl Sack1 50 1 0.5 0.000832 1
# VARIANT is Reno, Newreno, Sack1 or Vegas; OVERHEAD the bound of the random delay of sending, seconds.
# Prints goodput (Mb/s of payload, taking 40 of 1040 bytes for header), drop rate, mean queue, Jain's index and timeouts.
foreach {variant N alpha beta overhead seed} $argv break
set ns [new Simulator]
$ns rtproto Manual
set T 60
set rng [new RNG]; $rng seed $seed
ns-random [expr $seed*7919+13]
set r1 [$ns node]; set r2 [$ns node]
$ns duplex-link $r1 $r2 10Mb 30ms DropTail
$ns queue-limit $r1 $r2 125; $ns queue-limit $r2 $r1 125
for {set i 0} {$i<$N} {incr i} {
 set s [$ns node]; set d [$ns node]
 $ns duplex-link $s $r1 10Mb 10ms DropTail; $ns duplex-link $r2 $d 10Mb 10ms DropTail
 foreach {a b} [list $s $r1 $r1 $s $r2 $d $d $r2] {$ns queue-limit $a $b 1000}
 [$s get-module "Manual"] add-route-to-adj-node -default $r1
 [$d get-module "Manual"] add-route-to-adj-node -default $r2
 [$r1 get-module "Manual"] add-route-to-adj-node $s
 [$r2 get-module "Manual"] add-route-to-adj-node $d
 set t [new Agent/TCP/$variant]; $t set packetSize_ 1000; $t set window_ 64; $t set fid_ $i
 $t set increase_num_ $alpha; $t set decrease_num_ $beta; $t set overhead_ $overhead
 if {$variant=="Sack1"} {set k [new Agent/TCPSink/Sack1]} else {set k [new Agent/TCPSink]}
 $ns attach-agent $s $t; $ns attach-agent $d $k; $ns connect $t $k
 set f [new Application/FTP]; $f attach-agent $t
 set st($i) [expr [$rng uniform 0 1]]
 $ns at $st($i) "$f start"
 set snk($i) $k; set src($i) $t
}
$r1 add-route [$r2 id] [[$ns link $r1 $r2] head]
[$r1 get-module "Manual"] add-route-to-adj-node -default $r2
[$r2 get-module "Manual"] add-route-to-adj-node -default $r1
set qm [$ns monitor-queue $r1 $r2 ""]
set integ [$qm get-pkts-integrator]
$ns at $T "finish"
proc finish {} {
 global N T snk src st qm integ ns
 $integ newpoint $T 0
 set sum 0.0; set sq 0.0; set to 0
 for {set i 0} {$i<$N} {incr i} {
  set g [expr [$snk($i) set bytes_]*8.0*1000/1040/($T-$st($i))/1e6]
  set sum [expr $sum+$g]; set sq [expr $sq+$g*$g]; incr to [$src($i) set nrexmit_]
 }
 puts "[format {goodput %.4f drop %.5f queue %.3f jain %.4f timeouts %d} $sum [expr double([$qm set pdrops_])/[$qm set parrivals_]] [expr [$integ set sum_]/$T] [expr $sum*$sum/$N/$sq] $to]"
 exit 0
}
$ns run
