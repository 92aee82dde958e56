/** Names of the venues on the wire (src/docs/stream.md). */
export const VENUE_IDS = [
  'raydium-amm-v4',
  'raydium-stable',
  'raydium-clmm',
  'raydium-cpmm',
  'raydium-launchlab',
  'meteora-dlmm',
  'meteora-damm-v1',
  'meteora-damm-v2',
  'meteora-dbc',
  'pumpfun',
  'pumpswap',
  'orca-whirlpool',
  'moonshot',
  'lifinity',
  'phoenix'
] as const

export type VenueId = (typeof VENUE_IDS)[number]
