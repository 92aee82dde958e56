/** A difference between the localnet's node and Agave 4.2.1, and the reason for keeping it. */
export interface KnownDifference {
  readonly why: string
  /** Matches `question → where and how`, as the comparison writes it. */
  readonly pattern: RegExp
}

export const KNOWN_DIFFERENCES: readonly KnownDifference[] = [
  {
    why: 'cost units are what Agave packs blocks by; a localnet has no such limit to share out',
    pattern: /meta\.costUnits: nothing where a node has number/
  },
  {
    why: 'the leader of a localnet takes no fees, so a block rewards nobody',
    pattern: /^getBlock: .* → result\.rewards: empty/
  },
  {
    why: 'the only node of a localnet gossips with nobody and has no ports but the two that the client knows',
    pattern: /^getClusterNodes: .* → result\[\]\.\w+: null where a node has string/
  },
  {
    why: 'the engine does not say how many bytes it loads; null is what a node says where it has not measured',
    pattern: /loadedAccountsDataSize: null where a node has number/
  },
  {
    why: 'a simulation gives the accounts that are asked for, not the balances of all; null is what a node says without them',
    pattern:
      /^simulateTransaction: .* → result\.value\.(pre|post)(Token)?Balances: null where a node has list/
  },
  {
    why: 'where the bytes of a transaction end too early, Agave tells the state of its reader',
    pattern:
      /failed to deserialize [\w:]+: [\w ]+ where a node has -32602 failed to deserialize [\w:]+: Attempting to read/
  }
]
