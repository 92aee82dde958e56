/** Roles of processes, as a fleet's capacity knows them. */
export const FLEET_ROLES = ['ingest', 'delivery', 'gateway'] as const
export type FleetRole = (typeof FLEET_ROLES)[number]

/** Costs of a fleet's work, in seconds of CPU time. */
export interface FleetCosts {
  /** Cores of a process while no block comes, by role. */
  readonly idle: Readonly<Record<FleetRole, number>>
  /** Reading, folding and committing a trade, with its share of the block around it. */
  readonly ingestTrade: number
  /** Following a trade that another process has committed, by role. */
  readonly followTrade: Readonly<Record<Exclude<FleetRole, 'ingest'>, number>>
  /** An event to one client, of a channel that many clients have in common. */
  readonly sendEvent: number
  /** Accepting and storing a transaction, at a gateway. */
  readonly acceptTransaction: number
  /** Sending and tracking a transaction to its end, at a delivery process. */
  readonly sendTransaction: number
  /** CPU time of one replica of the CQL cluster for a trade, and for a transaction. */
  readonly cqlTrade: number
  readonly cqlTransaction: number
}

/** Work of a measured fleet in a phase, and its cores by role. */
export interface FleetPhase {
  readonly trades_a_second: number
  readonly events_a_second: number
  readonly sends_a_second: number
  /** Cores of all processes of a role. */
  readonly cores: Readonly<Record<FleetRole | 'cql', number>>
}

/** Phases of a measured fleet, each with what its name says in addition to the one before (`loadtest/fleet.ts`). */
export interface FleetPhases {
  readonly quiet: FleetPhase
  readonly blocks: FleetPhase
  readonly streams: FleetPhase
  readonly transactions: FleetPhase
}

/**
 * Computes the cost of each kind of work: the CPU time of the phase that adds it, without what the other work of that phase
 * costs. One process ingests, and one delivers.
 */
export function costsOf({ quiet, blocks, streams, transactions }: FleetPhases, gateways: number): FleetCosts {
  const ofTrade = (role: FleetRole | 'cql'): number =>
    Math.max(0, blocks.cores[role] - quiet.cores[role]) / blocks.trades_a_second
  /** Cores of a phase beyond those for its blocks. */
  const beyondBlocks = (role: FleetRole | 'cql', phase: FleetPhase): number =>
    Math.max(0, phase.cores[role] - quiet.cores[role] - phase.trades_a_second * ofTrade(role))
  const sendEvent = beyondBlocks('gateway', streams) / streams.events_a_second
  const ofSend = (role: FleetRole | 'cql'): number => {
    const events = role === 'gateway' ? transactions.events_a_second * sendEvent : 0
    return Math.max(0, beyondBlocks(role, transactions) - events) / transactions.sends_a_second
  }
  return {
    idle: {
      ingest: quiet.cores.ingest,
      delivery: quiet.cores.delivery,
      gateway: quiet.cores.gateway / gateways
    },
    ingestTrade: ofTrade('ingest'),
    followTrade: { delivery: ofTrade('delivery'), gateway: ofTrade('gateway') / gateways },
    sendEvent,
    acceptTransaction: ofSend('gateway'),
    sendTransaction: ofSend('delivery'),
    cqlTrade: ofTrade('cql'),
    cqlTransaction: ofSend('cql')
  }
}
