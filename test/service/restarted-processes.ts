import type { TreeNode } from '../../actors/supervision/live-tree.ts'

/**
 * Lists the units of a tree that were restarted. Members of a dynamic supervisor do not count: a follower of blocks restarts
 * while the store is unreachable.
 */
export function restartedIn(unit: TreeNode): readonly string[] {
  if (unit.strategy === 'simple_one_for_one') return []
  return [...(unit.restarts > 0 ? [unit.name] : []), ...unit.children.flatMap(restartedIn)]
}
