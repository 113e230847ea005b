package scenarios

// resolveInside finds the calls that others are inside of.
func (r *resolver) resolveInside() {
	by := map[string]int{} // 1 + index
	var names []string
	lost := false
	for i := range r.f.Calls {
		w := &r.f.Calls[i]
		lost = lost || r.d.perhaps(w.node, "name")
		if !w.V.Name.said() || r.d.refused[w.V.Name.node] {
			continue
		}
		name := w.V.Name.V
		r.name(name, w.V.Name.node)
		if by[name] > 0 {
			r.d.fault(w.V.Name.node, "another call is named %s", clip(name))
			continue
		}
		by[name] = i + 1
		names = append(names, name)
	}
	lost = lost || r.d.perhaps(r.root, "calls")
	for i := range r.f.Calls {
		in := &r.f.Calls[i].V.Inside
		switch {
		case !in.said() || r.d.refused[in.node]:
		case by[in.V] > 0:
			r.s.Calls[i].Inside = by[in.V]
		case !lost:
			r.d.fault(in.node, "no call is named %q%s", clip(in.V), r.d.meant(in.V, names))
		}
	}
	r.checkRounds()
}

// checkRounds refuses calls that are inside of themselves.
func (r *resolver) checkRounds() {
	const unseen, under, done = 0, 1, 2
	seen := make([]int, len(r.s.Calls))
	for i := range r.s.Calls {
		var way []int
		k := i
		for seen[k] == unseen {
			seen[k] = under
			way = append(way, k)
			if r.s.Calls[k].Inside == 0 {
				break
			}
			k = r.s.Calls[k].Inside - 1
		}
		if last := len(way) - 1; last >= 0 && seen[k] == under && r.s.Calls[k].Inside > 0 {
			r.d.fault(r.f.Calls[way[last]].V.Inside.node, "%s would be inside of itself", clip(r.s.Calls[k].Name))
		}
		for _, at := range way {
			seen[at] = done
		}
	}
}
