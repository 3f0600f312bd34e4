# The benchmark of many flows in ns-2: N Reno flows of 100 pairs of hosts share one bottleneck.
# usage: ns many_flows.tcl FLOWS SECONDS [count]
# Prints the CPU time of the set-up and of the run. With `count`, monitors count the packets that leave every link.

remove-all-packet-headers
add-packet-header IP TCP Flags

set flows [lindex $argv 0]
set seconds [lindex $argv 1]
set counting [expr {[lindex $argv 2] == "count"}]
set hosts [expr {$flows < 100 ? $flows : 100}]
set each [expr {double($flows) / $hosts}]
set ns [new Simulator]
$ns rtproto Manual
set monitors {}

# User and system time of this process so far, s.
proc cpu {} {
    set file [open /proc/self/stat]
    set words [read $file]
    close $file
    return [expr {([lindex $words 13] + [lindex $words 14]) / 100.0}]
}

# A duplex link with a drop-tail queue each way.
proc join {a b rate delay limit} {
    global ns counting monitors
    $ns duplex-link $a $b $rate $delay DropTail
    foreach {from to} [list $a $b $b $a] {
        $ns queue-limit $from $to $limit
        if {$counting} { lappend monitors [$ns monitor-queue $from $to ""] }
    }
}

set r1 [$ns node]
set r2 [$ns node]
join $r1 $r2 [expr {$flows * 1e6}] 10ms [expr {int(2.5 * $flows) + 1}]
for {set i 0} {$i < $hosts} {incr i} {
    set s($i) [$ns node]
    set d($i) [$ns node]
    join $s($i) $r1 [expr {1e8 * $each}] 5ms [expr {int(250 * $each)}]
    join $r2 $d($i) [expr {1e8 * $each}] 5ms [expr {int(250 * $each)}]
    [$s($i) get-module "Manual"] add-route-to-adj-node -default $r1
    [$d($i) get-module "Manual"] add-route-to-adj-node -default $r2
    [$r1 get-module "Manual"] add-route-to-adj-node $s($i)
    [$r2 get-module "Manual"] add-route-to-adj-node $d($i)
}
[$r1 get-module "Manual"] add-route-to-adj-node -default $r2
[$r2 get-module "Manual"] add-route-to-adj-node -default $r1
for {set i 0} {$i < $flows} {incr i} {
    set host [expr {$i % $hosts}]
    set tcp [new Agent/TCP/Reno]
    $tcp set packetSize_ 1000
    $tcp set window_ 64
    set sink [new Agent/TCPSink]
    $ns attach-agent $s($host) $tcp
    $ns attach-agent $d($host) $sink
    $ns connect $tcp $sink
    $ns at [expr {double($i) / $flows}] "$tcp send -1"
}

$ns at $seconds "finish"
proc finish {} {
    global monitors set_up
    set hops 0
    foreach monitor $monitors { set hops [expr {$hops + [$monitor set pdepartures_]}] }
    puts [format "hops %.0f setup %.2f cpu %.2f" $hops $set_up [expr {[cpu] - $set_up}]]
    exit 0
}
set set_up [cpu]
$ns run
