package workload

// A taskStack is a list of tasks that want a post each: pushed one by one,
// taken all at once, then posted newest first.
type taskStack struct {
	pushed nodeRef
	taken  nodeRef
}

// Push puts a task on a stack; word is the word that a post of it sets.
func (s *Syncs) Push(i int32, t TaskID, word int32) {
	stack := &s.objects[i].stack
	node := &s.nodes[refOf(t)]
	node.below, node.word = stack.pushed, word
	stack.pushed = refOf(t)
}

// Take sets all pushed tasks aside for the posts that follow. What an earlier
// Take left is posted after them.
func (s *Syncs) Take(i int32) {
	stack := &s.objects[i].stack
	if stack.pushed == 0 {
		return
	}
	last := stack.pushed
	for s.nodes[last].below != 0 {
		last = s.nodes[last].below
	}
	s.nodes[last].below = stack.taken
	stack.taken, stack.pushed = stack.pushed, 0
}

// Taken reports whether tasks that were taken still want their post.
func (s *Syncs) Taken(i int32) bool { return s.objects[i].stack.taken != 0 }

// PostTaken posts the newest task that was taken, of which there must be one,
// and returns it.
func (s *Syncs) PostTaken(i int32, out *Outcome) TaskID {
	out.reset()
	stack := &s.objects[i].stack
	ref := stack.taken
	node := &s.nodes[ref]
	stack.taken = node.below
	s.post(node.word, out)
	return ref.task()
}
