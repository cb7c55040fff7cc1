# Makes C string literals of the lines of a text, for it to be compiled in.
s/\\/\\\\/g
s/"/\\"/g
s/.*/"&\\n"/
