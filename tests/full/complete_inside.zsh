# What complete.zsh loads into the zsh that completes: candidates are printed between two marks, and not inserted. The
# completions are a file to source, or a folder for $fpath that holds _gate.
PROMPT=
if [[ -d $1 ]]; then fpath=($1 $fpath); fi
autoload -Uz compinit
compinit -u -D
if [[ ! -d $1 ]]; then source $1; fi
compadd() {
  local -a found
  if [[ ${@[1,(i)(-|--)]} == *-[OAD]* ]]; then
    builtin compadd "$@"
    return
  fi
  builtin compadd -A found "$@"
  builtin compadd "$@"
  print -rl -- $found
}
tell() {
  print GATE-BEGIN
  zle complete-word-hidden
  BUFFER=
  print GATE-END
}
zle -C complete-word-hidden complete-word _main_complete
zle -N tell
bindkey '^I' tell
print GATE-READY
