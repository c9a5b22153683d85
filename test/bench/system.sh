# system.sh: what benchmarks ask of the operating system.  Sourced by run.

# forget FILE...: writes a relation's files, and drops them from the system's cache.
forget()
{
	local file

	for file in "$@"; do
		[ -e "$file" ] || continue
		dd of="$file" oflag=nocache conv=notrunc,fdatasync count=0 status=none
	done
}

# restart_cold PATH...: restarts the server, while the system drops relations' files from its cache.
restart_cold()
{
	local path

	stop
	for path in "$@"; do
		forget "$DIR/data/$path"{,.[0-9]*}
	done
	start
}

# Prints a command for COPY FROM PROGRAM that prints a backend's private memory in MB, without shared memory.
# The shell that the backend starts knows the backend as its parent.
private_memory_command()
{
	local count='/^[0-9a-f]+-[0-9a-f]+ / { shared = $2 ~ /s$/ } /^Private_(Clean|Dirty):/ && !shared { kb += $2 } END { print kb / 1024 }'

	echo "awk '$count' /proc/\$PPID/smaps"
}

# has_private_memory: whether the system tells it.
has_private_memory()
{
	[ -r /proc/self/smaps ]
}
