# The speed benchmark in ns-2: N Reno flows through one 100 Mb/s bottleneck, set up as cheaply as ns-2 can.
# usage: ns dumbbell.tcl FLOWS SECONDS [count]
# With `count`, a monitor on every link direction counts the packets that leave it and the total is printed; the run
# that is timed goes without.

# Every packet of ns-2 carries the headers of all protocols that it knows, unless it is told which are needed: these are.
remove-all-packet-headers
add-packet-header IP TCP Flags

set flows [lindex $argv 0]
set seconds [lindex $argv 1]
set counting [expr {[lindex $argv 2] == "count"}]
set ns [new Simulator]
$ns rtproto Manual
set monitors {}

# A duplex link with a 250-packet drop-tail queue each way.
proc join {a b delay} {
    global ns counting monitors
    $ns duplex-link $a $b 100Mb $delay DropTail
    foreach {from to} [list $a $b $b $a] {
        $ns queue-limit $from $to 250
        if {$counting} { lappend monitors [$ns monitor-queue $from $to ""] }
    }
}

set r1 [$ns node]
set r2 [$ns node]
join $r1 $r2 10ms
for {set i 0} {$i < $flows} {incr i} {
    set s [$ns node]
    set d [$ns node]
    join $s $r1 5ms
    join $r2 $d 5ms
    [$s get-module "Manual"] add-route-to-adj-node -default $r1
    [$d get-module "Manual"] add-route-to-adj-node -default $r2
    [$r1 get-module "Manual"] add-route-to-adj-node $s
    [$r2 get-module "Manual"] add-route-to-adj-node $d
    set tcp [new Agent/TCP/Reno]
    $tcp set packetSize_ 1000
    $tcp set window_ 64
    $tcp set fid_ $i
    set sink [new Agent/TCPSink]
    $ns attach-agent $s $tcp
    $ns attach-agent $d $sink
    $ns connect $tcp $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    $ns at [expr 0.01 * $i] "$ftp start"
}
[$r1 get-module "Manual"] add-route-to-adj-node -default $r2
[$r2 get-module "Manual"] add-route-to-adj-node -default $r1

$ns at $seconds "finish"
proc finish {} {
    global monitors counting
    set hops 0
    foreach monitor $monitors { set hops [expr $hops + [$monitor set pdepartures_]] }
    if {$counting} { puts "hops [format %.0f $hops]" }
    exit 0
}
$ns run
