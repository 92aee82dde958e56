/** The current state of a live chain's source, for its operator. */
export interface SourceStatus {
  readonly state: SourceStateName
  /** The reason why the source does not advance, in one line; null while it advances. */
  readonly reason: string | null
  /** The newest slot that its nodes reported. */
  readonly headSlot: number | null
  readonly nodes: readonly NodeStatus[]
  /**
   * Reason why the store may not match the nodes' chain, or is known not to match; null otherwise. Until this is
   * resolved, served data may be of a lost fork.
   */
  readonly fork: string | null
}

/**
 * `advancing`: newer slots arrive. `full`: they arrive faster than they are read. `stalled`: connected, but no slot
 * arrives. `waiting`: no node is connected, and the source will reconnect. `refused`: waiting does not help.
 */
export type SourceStateName = 'connecting' | 'advancing' | 'full' | 'stalled' | 'waiting' | 'refused'

export interface NodeStatus {
  /** Host and port. */
  readonly name: string
  /** Whether the node stores all blocks; it is queried for blocks that other nodes lack. */
  readonly archive: boolean
  readonly state: NodeStateName
  /** The newest slot that it reported. */
  readonly slot: number | null
  /** Number of slots behind the newest known one. */
  readonly lag: number
  /** Its last fault in one line; null after a good answer. */
  readonly reason: string | null
}

/** `probing` means that the first answer is still missing. */
export type NodeStateName = 'probing' | 'healthy' | 'lagging' | 'down' | 'refused'
