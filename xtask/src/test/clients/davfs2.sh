# A folder of the drive as a file system, through davfs2: steps, of each of which the last line says how it ended.
#
# It runs in a mount namespace of its own. davfs2 wants a user of its own, and folders in /run and /var/cache; it sees
# them only here, and all mounts go with the namespace.
set -eu

mount --bind passwd /etc/passwd
mount --bind group /etc/group
mount -t tmpfs none /run
mount -t tmpfs none /var/cache
mkdir -p mnt

attach() { "$DAVFS2/mount.davfs" "$URL" mnt -o conf=davfs2.conf; }
detach() { "$DAVFS2/umount.davfs" mnt; }

step() {
    if sh -euc "$2"; then echo "step $1 ok"; else echo "step $1 failed"; fi
}

attach
step mounts 'mkdir mnt/davfs2 && test -d mnt/davfs2'
step writes_files_with_odd_names '
    echo one > "mnt/davfs2/a & b <c> #1%.txt"
    echo two > mnt/davfs2/café.txt
    cp large mnt/davfs2/large'
step appends_and_rewrites '
    echo first > mnt/davfs2/log; echo second >> mnt/davfs2/log
    echo shorter > mnt/davfs2/café.txt'
step renames_over_a_file '
    echo new > mnt/davfs2/doc.tmp; echo old > mnt/davfs2/doc
    mv mnt/davfs2/doc.tmp mnt/davfs2/doc'
step makes_moves_and_removes_folders '
    mkdir -p mnt/davfs2/one/two; echo x > mnt/davfs2/one/two/x
    mv mnt/davfs2/one mnt/davfs2/moved
    mkdir mnt/davfs2/gone; rmdir mnt/davfs2/gone
    echo y > mnt/davfs2/gone.txt; rm mnt/davfs2/gone.txt'
step keeps_the_time_of_a_copy 'touch -d 2001-02-03T04:05:06Z mnt/davfs2/doc'
step knows_the_free_space 'df mnt'
step unmounts_having_sent_everything "'$DAVFS2/umount.davfs' mnt"

# With nothing in the cache, all comes from the server.
rm -rf cache/* /var/cache/davfs2
attach
step finds_it_all_again '
    ls mnt/davfs2 | sort > listed
    printf "%s\n" "a & b <c> #1%.txt" café.txt doc large log moved | sort > wanted
    diff wanted listed
    test "$(cat "mnt/davfs2/a & b <c> #1%.txt")" = one
    test "$(cat mnt/davfs2/café.txt)" = shorter
    test "$(cat mnt/davfs2/doc)" = new
    test "$(cat mnt/davfs2/log)" = "$(printf "first\nsecond")"
    test "$(cat mnt/davfs2/moved/two/x)" = x
    cmp large mnt/davfs2/large'
step removes_a_tree 'rm -r mnt/davfs2 && test ! -e mnt/davfs2'
detach
