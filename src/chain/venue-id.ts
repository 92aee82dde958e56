/**
 * Owner of the vaults of a venue's pools: the pool itself, an address that the program derives from the pool, for both
 * vaults or for each mint, one address of the program for all pools, or the vault of another program, which holds the tokens
 * of all pools of a mint.
 */
export type VaultOwner =
  | 'pool'
  | 'of-pool'
  | 'of-pool-and-mint'
  | 'shared-vault'
  | { readonly authority: string }

/** Facts of a venue that its decoder does not need. */
interface VenueFacts {
  /** The stored byte of the venue, which never changes. */
  readonly code: number
  /**
   * Recorded trades of the venues agree (`test/signing/vault-owners.test.ts`). No trade of Raydium stable is recorded: its
   * address comes from Raydium's published list of pools.
   */
  readonly vaults: VaultOwner
  /**
   * Set for a launchpad, whose trades are on bonding curves. `states-supply`: a curve completes when all tokens for sale are
   * sold, and its creation states them.
   */
  readonly curve?: 'states-supply' | 'other'
}

/** Every venue, by its name on the wire (src/docs/stream.md). */
export const VENUE_FACTS = {
  'raydium-amm-v4': { code: 0, vaults: { authority: '5Q544fKrFoe6tsEbD7S8EmxGTJYAKtTVhAW5Q5pge4j1' } },
  'raydium-stable': { code: 1, vaults: { authority: '3uaZBfHPfmpAHW7dsimC1SnyR61X4bJqQZKWmRSCXJxv' } },
  'raydium-clmm': { code: 2, vaults: 'pool' },
  'raydium-cpmm': { code: 3, vaults: { authority: 'GpMZbSM2GgvTKHJirzeGfMFoaZ8UR2X7F4v8vHTvxFbL' } },
  'raydium-launchlab': {
    code: 4,
    vaults: { authority: 'WLHv2UAZm6z4KyaaELi5pjdbJh6RESMva1Rnn8pJVVh' },
    curve: 'states-supply'
  },
  'meteora-dlmm': { code: 5, vaults: 'pool' },
  'meteora-damm-v1': { code: 6, vaults: 'shared-vault' },
  'meteora-damm-v2': { code: 7, vaults: { authority: 'HLnpSz9h2S4hiLQ43rnSD9XkcUThA7B8hQMKmDaiTLcC' } },
  'meteora-dbc': {
    code: 8,
    vaults: { authority: 'FhVo3mqL8PW5pH5U2CN4XE33DokiyZnUwuGpH2hmHLuM' },
    curve: 'other'
  },
  pumpfun: { code: 9, vaults: 'pool', curve: 'states-supply' },
  pumpswap: { code: 10, vaults: 'pool' },
  'orca-whirlpool': { code: 11, vaults: 'pool' },
  moonshot: { code: 12, vaults: 'pool', curve: 'other' },
  lifinity: { code: 13, vaults: 'of-pool' },
  // Each vault owns itself.
  phoenix: { code: 14, vaults: 'of-pool-and-mint' }
} as const satisfies Record<string, VenueFacts>

export type VenueId = keyof typeof VENUE_FACTS

/** Names of the venues on the wire. */
export const VENUE_IDS = Object.keys(VENUE_FACTS) as unknown as readonly [VenueId, ...VenueId[]]

/** Returns the facts of a venue. */
export const factsOfVenue = (venue: VenueId): VenueFacts => VENUE_FACTS[venue]
