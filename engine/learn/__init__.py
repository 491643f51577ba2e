"""What the Learn page teaches with: films, puzzles, families of hard cases, lessons."""
