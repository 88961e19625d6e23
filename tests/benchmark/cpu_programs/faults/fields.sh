#!/bin/bash
# Sum of the third field of an access log, per status.
log=/tmp/fields_access.log
awk 'BEGIN { srand(3); for (i = 0; i < 900; i++) printf "host%d;%d;%d\n", i % 50, (i % 7 ? 200 : 404), int(rand() * 1000) }' > $log
if [ -n "$FIXED" ]; then
    awk -F';' '{ sum[$2] += $3 } END { print sum[200], sum[404] }' $log
else
    ok=0
    missing=0
    while read -r line; do
        status=$(echo "$line" | cut -d';' -f2)
        bytes=$(echo "$line" | cut -d';' -f3)
        if [ "$status" = 200 ]; then ok=$((ok + bytes)); else missing=$((missing + bytes)); fi
    done < $log
    echo $ok $missing
fi
rm -f $log
