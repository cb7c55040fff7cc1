# SPDX-License-Identifier: LGPL-2.1-or-later
# fish completion for branchctl, which knows its own words: "branchctl __complete WORD..."

function __branchctl_complete
    set -l words (commandline -opc)
    set -l typed (commandline -ct)
    set -l plain (string unescape -- $typed 2>/dev/null; or string trim -l -c "'\"" -- $typed)
    set -l program (string replace -r '^~' $HOME -- $words[1])
    set -e words[1]
    set -l lines (command $program __complete $words "$plain" 2>/dev/null)
    set -l rest $lines[-1]

    set -e lines[-1]
    test (count $lines) -gt 0; and printf '%s\n' $lines
    switch "$rest"
        case :files
            __fish_complete_path "$typed"
        case :directories
            __fish_complete_directories "$typed"
        case ':command *'
            __fish_complete_subcommand --fcs-skip=(math (string replace ':command ' '' -- $rest) + 1)
    end
end

complete -c branchctl -f -k -a '(__branchctl_complete)'
