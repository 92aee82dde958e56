/** How a source of a live chain does at the moment, for its operator. */
export interface SourceStatus {
  readonly state: SourceStateName
  /** In one line, why it does not advance; null while it does. */
  readonly reason: string | null
  /** The newest slot that its nodes have told of. */
  readonly headSlot: number | null
  readonly nodes: readonly NodeStatus[]
  /**
   * Why what is stored is not known to be of the nodes' chain, or is known not to be; null while it is. Until that is settled
   * some of what is served may be of a lost fork.
   */
  readonly fork: string | null
}

/**
 * `advancing`: newer slots come. `full`: they come faster than they are taken. `stalled`: connected, and none comes.
 * `waiting`: there is no node, it connects again after a wait. `refused`: waiting does not help.
 */
export type SourceStateName = 'connecting' | 'advancing' | 'full' | 'stalled' | 'waiting' | 'refused'

export interface NodeStatus {
  /** Host and port. */
  readonly name: string
  /** Keeps all blocks, and is asked for what the others do not have. */
  readonly archive: boolean
  readonly state: NodeStateName
  /** The newest slot that it has told of. */
  readonly slot: number | null
  /** Slots that it is behind the newest one known. */
  readonly lag: number
  /** Its last fault, in one line; null when it did well since. */
  readonly reason: string | null
}

/** `probing`: nothing is known of it yet. */
export type NodeStateName = 'probing' | 'healthy' | 'lagging' | 'down' | 'refused'
