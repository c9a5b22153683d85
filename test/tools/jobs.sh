# jobs.sh: runs commands side by side, and ends all that they started.
#
# A job is a command with a name; its output goes to the log $WORK/NAME.log.  Bash scripts
# source this file after lib.sh.
#
#   WORK    the folder of the logs.  Servers of jobs have their data below it
#   JOBS    how many jobs run at a time; default: one more than processors, as tests often wait
#   STALL   seconds after which a job that prints nothing counts as hanging and is stopped, in proportion
#           more on a machine that has more to do than it has processors for; default: 1800.  Nothing
#           limits the time of a job that goes on

JOBS=${JOBS:-$((NPROC + 1))}
STALL=${STALL:-1800}

QUEUE=()           # names of jobs that wait, and their commands
declare -A COMMAND=()
declare -A RUNNING=() # the process group of each running job, by name
declare -A STARTED=()

# job NAME COMMAND...: enters a job.
job()
{
	QUEUE+=("$1")
	COMMAND[$1]=$(printf '%q ' "${@:2}")
}

# Starts a job in a process group of its own.
start_job()
{
	STARTED[$1]=$(now)
	set -m
	(
		set +m
		trap - EXIT INT TERM
		eval "${COMMAND[$1]}"
	) >"$WORK/$1.log" 2>&1 </dev/null &
	RUNNING[$1]=$!
	echo "$!" >"$WORK/$1.pid"
	set +m
}

# Stops a job that has printed nothing for too long.
stop_if_stalled()
{
	local age=$(($(date +%s) - $(stat -c %Y "$WORK/$1.log"))) load

	[ "$age" -gt "$STALL" ] || return 0
	load=$(cut -d ' ' -f 1 /proc/loadavg 2>/dev/null || echo 0)
	awk -v age="$age" -v stall="$STALL" -v busy="$load" -v n="$NPROC" \
		'BEGIN { exit !(age > stall * (busy > n ? busy / n : 1)) }' || return 0
	echo "not ok - $1 printed nothing for $age s" >>"$WORK/$1.log"
	kill -TERM -- "-${RUNNING[$1]}" 2>/dev/null || true
	sleep 1
	kill -KILL -- "-${RUNNING[$1]}" 2>/dev/null || true
}

# Runs all jobs that were entered.  Calls 'REPORT NAME STATUS SECONDS' for each that ends.
run_jobs()
{
	local report=$1 name status turn=0

	while [ ${#QUEUE[@]} -gt 0 ] || [ ${#RUNNING[@]} -gt 0 ]; do
		while [ ${#QUEUE[@]} -gt 0 ] && [ ${#RUNNING[@]} -lt "$JOBS" ]; do
			start_job "${QUEUE[0]}"
			QUEUE=("${QUEUE[@]:1}")
		done
		sleep 0.3
		turn=$((turn + 1))
		for name in "${!RUNNING[@]}"; do
			if kill -0 "${RUNNING[$name]}" 2>/dev/null; then
				# That starts processes, and few seconds matter little.
				[ "$((turn % 20))" != 0 ] || stop_if_stalled "$name"
				continue
			fi
			status=0
			wait "${RUNNING[$name]}" || status=$?
			# What a job leaves in its group does not outlive it.
			kill -KILL -- "-${RUNNING[$name]}" 2>/dev/null || true
			unset "RUNNING[$name]"
			rm -f "$WORK/$name.pid"
			"$report" "$name" "$status" "$(elapsed "${STARTED[$name]}")"
		done
	done
}

# Prints the processes that work in a folder or below it, which includes all of a server.
processes_in()
{
	find /proc/[0-9]*/cwd -maxdepth 0 \( -lname "$1" -o -lname "$1/*" \) 2>/dev/null | sed 's:^/proc/::; s:/cwd$::'
}

# Ends all jobs, and all processes that work below $WORK.
end_jobs()
{
	local file signal

	for file in "$WORK"/*.pid; do
		[ ! -s "$file" ] || kill -KILL -- "-$(cat "$file")" 2>/dev/null || true
	done
	# A server ends at SIGQUIT, and its processes with it.
	for signal in QUIT KILL KILL; do
		set -- $(processes_in "$WORK")
		[ $# -gt 0 ] || return 0
		kill -$signal "$@" 2>/dev/null || true
		sleep 1
	done
}

# Calls end_jobs() when this script has ended, however it ends.
guard_jobs()
{
	local script=$$

	set -m
	(
		set +m
		trap - EXIT
		trap '' INT TERM
		cd /
		tail --pid="$script" -f /dev/null
		end_jobs
	) >/dev/null 2>&1 </dev/null &
	set +m
	disown
}

# Prints the names of the tests that failed, of a job's log.
#
# A test is a line 'not ok ...' of TAP or of one of the tools, or pg_regress's older
# 'test NAME ... FAILED'.
failed_tests()
{
	sed -nE -e 's/^not ok [0-9]+ +- (.*[^ ])( +[0-9]+ ms)$/\1/p; t' -e 's/^not ok ([0-9]+ +- )?//p; t' \
		-e 's/^(test|    ) +([^ ]+) +\.\.\. FAILED.*/\2/p' "$WORK/$1.log"
}

# Prints the name of the TAP test that a job runs, if it runs one.
tap_test()
{
	sed -n '/^test\/[a-z]*\/\(.*\)\.pl \.\..*/{ s//\1/p; q; }' "$WORK/$1.log"
}

# Prints what a job says of each test that failed: its line, and what the test adds to it.
#
# What prove passes on may come after what the test itself writes about the failure.
explain_failures()
{
	local log=$WORK/$1.log diffs=$WORK/$1/regression.diffs own

	if [ -z "$(failed_tests "$1")" ]; then
		tail -n 40 "$log"
	else
		awk '
			/^(ok|not ok) / || /^(test|    ) .* \.\.\. / || /^(===|###|# (Running|Looks))/ { lines = 0 }
			/^not ok / || /\.\.\. FAILED/ || /^ *#   Failed test / { lines = 40 }
			lines-- > 0' "$log"
	fi
	if [ -s "$diffs" ]; then
		awk '/^diff / { lines = 0 } ++lines <= 80; lines == 81 { print "(more of it is in the file)" }' "$diffs"
	fi
	# A test that dies says so in a log of its own.
	own=$WORK/run/tmp_check/log/regress_log_$(tap_test "$1")
	if [ -s "$own" ] && grep -qE 'test exited with|No plan found|no plan was declared' "$log"; then
		tail -n 15 "$own"
	fi
}

# summarize NAME...: prints what jobs that failed say, then the names of their tests and where their logs are.
summarize()
{
	local name tests most=20

	for name in "$@"; do
		printf '\n---- %s ----\n' "$name"
		explain_failures "$name" | cut -c 1-400
	done
	printf '\n---- failed ----\n'
	for name in "$@"; do
		mapfile -t tests < <(failed_tests "$name")
		[ ${#tests[@]} -gt 0 ] || tests=("ended with an error")
		printf "$name: %s\n" "${tests[@]:0:most}"
		[ ${#tests[@]} -le $most ] || echo "$name: and $((${#tests[@]} - most)) more"
	done
	for name in "$@"; do
		ls -d "$WORK/$name.log" "$WORK/$name/regression.diffs" "$WORK/$name/server.log" 2>/dev/null || true
		[ -z "$(tap_test "$name")" ] || ls -d "$WORK"/run/tmp_check/log/{regress_log_,}"$(tap_test "$name")"* 2>/dev/null || true
	done
}
