import type { TreeNode } from '../../actors/supervision/live-tree.ts'

/** Finds a unit in the tree of processes by its name. */
export function unitOf(tree: TreeNode, name: string): TreeNode | null {
  if (tree.name === name) return tree
  for (const child of tree.children) {
    const found = unitOf(child, name)
    if (found !== null) return found
  }
  return null
}

/** Returns the slot up to which the ledger is complete in a process that writes it. */
export const ledgerSlotIn = (tree: TreeNode): number => Number(unitOf(tree, 'ledger')?.gauges['slot'] ?? 0)
