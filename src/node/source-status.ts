/** The current state of a live chain's source, for its operator. */
export interface SourceStatus {
  readonly state: SourceStateName
  /** One line with the reason why it does not advance; null while it does. */
  readonly reason: string | null
  /** The newest slot that its nodes reported. */
  readonly headSlot: number | null
  readonly nodes: readonly NodeStatus[]
  /**
   * Reason why the store may not be of the nodes' chain, or is known not to be; null otherwise. Until it is settled,
   * some served data may be of a lost fork.
   */
  readonly fork: string | null
}

/**
 * `advancing`: newer slots come. `full`: they come faster than they are read. `stalled`: connected, but none comes.
 * `waiting`: no node is connected; it reconnects after a wait. `refused`: waiting does not help.
 */
export type SourceStateName = 'connecting' | 'advancing' | 'full' | 'stalled' | 'waiting' | 'refused'

export interface NodeStatus {
  /** Host and port. */
  readonly name: string
  /** Whether the node keeps all blocks; it is asked for blocks that others lack. */
  readonly archive: boolean
  readonly state: NodeStateName
  /** The newest slot that it reported. */
  readonly slot: number | null
  /** Number of slots behind the newest known one. */
  readonly lag: number
  /** Its last fault in one line; null after a good answer. */
  readonly reason: string | null
}

/** `probing` means that nothing is known yet. */
export type NodeStateName = 'probing' | 'healthy' | 'lagging' | 'down' | 'refused'
