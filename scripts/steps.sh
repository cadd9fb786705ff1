# Sourced by the scripts beside it, in the repository's root after `set -euo pipefail`. It runs named steps with one line of
# progress each and logs in build/logs. It prints the log's end if a step fails.

logs=build/logs
mkdir -p "$logs"
keep_going=no
deadline=    # on the shell's clock ($SECONDS): a step that would not end by then is not begun; empty: none
failed=()
left_out=()
undone=" "   # the steps that failed or were left out, with a blank on each side
closing=()   # ctest's closing lines, the newest first

# leave_out NAME WHY: says that a step is not run.
leave_out() {
  printf '%-18s left out: %s\n' "$1" "$2"
  left_out+=("$1")
  undone+="$1 "
}

# after STEP step...: runs the step only if STEP succeeded. With half a build, its result would mean nothing.
after() {
  local wanted=$1
  shift
  if [[ $undone = *" $wanted "* ]]; then
    leave_out "$2" "it needs $wanted"
  else
    "$@"
  fi
}

# step NAME SECONDS COMMAND...: runs the command with its output in build/logs/NAME.log. SECONDS is what it takes on two cores.
# If there is a deadline, a step that would not make it is left out, and the script says so. A step is cut off a minute after
# the deadline and then counts as left out. It counts as failed if its log shows a failure by then (ctest's ***Failed or the
# like, ninja's FAILED, a compiler's error:).
step() {
  local name=$1 needs=$2 begin=$SECONDS status=0 summary limit=()
  shift 2
  if [ -n "$deadline" ]; then
    if ((SECONDS + needs > deadline)); then
      leave_out "$name" "it takes $needs s, $((deadline > SECONDS ? deadline - SECONDS : 0)) s are left"
      return 0
    fi
    limit=(timeout --kill-after=20 $((deadline - SECONDS + 60)))
  fi
  if [ -t 1 ]; then printf '%-18s ...\r' "$name"; fi
  "${limit[@]}" "$@" >"$logs/$name.log" 2>&1 </dev/null || status=$?
  summary=$(grep -E '^[0-9]+% tests passed' "$logs/$name.log" | tail -n 1 || true)
  if [ -n "$summary" ]; then closing=("$name: $summary" "${closing[@]}"); fi
  if [ -n "$deadline" ] && ((SECONDS >= deadline + 59)) && [[ $status = 124 || $status = 137 ]] &&
    ! grep -qE '\*\*\*(Failed|Timeout|Exception|Not Run)|^FAILED|error:' "$logs/$name.log"; then
    printf '%-18s cut off after %d s with nothing failed; the last line: %s\n' "$name" $((SECONDS - begin)) \
      "$(tail -n 1 "$logs/$name.log" | tr -s ' .')"
    left_out+=("$name")
    undone+="$name "
    return 0
  fi
  printf '%-18s %4d s  %s%s\n' "$name" $((SECONDS - begin)) "$([ $status = 0 ] || echo "FAILED, exit $status  ")" "$summary"
  skipped "$logs/$name.log"
  if [ $status = 0 ]; then return 0; fi
  failed+=("$name")
  undone+="$name "
  # A build that goes on after an error reports it far above its end.
  if grep -qE 'error:' "$logs/$name.log"; then
    printf -- '--- errors in %s:\n' "$logs/$name.log"
    grep -nE 'error:' "$logs/$name.log" | head -n 20 | cut -c1-300 | sed 's/^/    /'
  fi
  printf -- '--- the end of %s:\n' "$logs/$name.log"
  tail -n 60 "$logs/$name.log" | sed 's/^/    /'
  if [ $keep_going = no ]; then finish; fi
}

# Names the tests that a step skipped, so that a green line hides nothing. Tests that differ in their parameters count as one.
skipped() {
  local names
  names=$(sed -nE 's/^[[:space:]]*[0-9]+ - (.*) \(Skipped\)$/\1/p' "$1" | sed -E 's/ +# GetParam.*//; s#/[^/]*$##')
  if [ -n "$names" ]; then
    printf '%-26s skipped: %s\n' '' "$(sort <<<"$names" | uniq -c | awk '{printf "%s%s (%d)", (NR > 1 ? ", " : ""), $2, $1}')"
  fi
}

# Ends the script with what failed, what was left out and how many tests ran. ctest's line of the first test step comes last.
finish() {
  if [ ${#left_out[@]} -gt 0 ]; then echo "left out: ${left_out[*]}"; fi
  if [ ${#failed[@]} -gt 0 ]; then echo "failed: ${failed[*]} (logs in $logs)"; fi
  printf 'done in %d s\n' "$SECONDS"
  if [ ${#closing[@]} -eq 0 ]; then
    echo "no tests ran"
    exit 1
  fi
  closing[-1]=${closing[-1]#*: }
  printf '%s\n' "${closing[@]}"
  [ ${#failed[@]} -eq 0 ] || exit 1
  exit 0
}
