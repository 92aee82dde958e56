import type { RawCall } from './raw-record.ts'

/**
 * Where the venues' published account lists place a pool and its vaults, written down apart from the decoder's
 * layouts. `lamports` is the account that holds the quote side as lamports instead of a vault.
 */
export interface PublishedPool {
  readonly pool: string
  readonly vaults: readonly string[]
  readonly lamports: string | null
}

interface Places {
  readonly pool: number
  readonly vaults: readonly number[]
  readonly lamports?: number
}

type PlacesOf = Places | readonly Places[] | ((count: number) => Places | null)

export interface PublishedCall {
  /** The venue's name on the wire. */
  readonly venue: string
  readonly name: string
  readonly isSwap: boolean
  readonly places: PlacesOf
}

export function isVenueProgram(program: string): boolean {
  return program in VENUES
}

/** Returns a call with its published account list, or null if its program or discriminator is not listed here. */
export function publishedCall({ program, data }: RawCall): PublishedCall | null {
  const venue = VENUES[program]
  if (venue === undefined) return null
  const discriminator = data.subarray(0, venue.discriminatorBytes).toHex()
  const [name, places] = venue.calls[discriminator] ?? []
  if (name === undefined || places === undefined) return null
  return { venue: venue.id, name, places, isSwap: /swap|buy|sell/.test(name) }
}

/** Returns the pools that a call names, with their vaults. */
export function publishedPools(call: RawCall): PublishedPool[] {
  const places = publishedCall(call)?.places ?? []
  const listed = typeof places === 'function' ? places(call.accounts.length) : places
  if (listed === null) return []
  return [listed].flat().map(({ pool, vaults, lamports }) => ({
    pool: call.accounts[pool]!,
    vaults: vaults.map((vault) => call.accounts[vault]!),
    lamports: lamports === undefined ? null : call.accounts[lamports]!
  }))
}

const at = (pool: number, ...vaults: number[]): Places => ({ pool, vaults })
const curve = (pool: number, vault: number): Places => ({ pool, vaults: [vault], lamports: pool })
const byCount =
  (places: Readonly<Record<number, Places>>): PlacesOf =>
  (count) =>
    places[count] ?? null

const amm4Swap = byCount({ 17: at(1, 4, 5), 18: at(1, 5, 6) })
const amm4Deposit = byCount({ 11: at(1, 5, 6), 14: at(1, 6, 7), 15: at(1, 6, 7) })
const amm4Withdraw: PlacesOf = (count) => (count === 11 ? at(1, 5, 6) : at(1, 6, 7))
const dlmmSwap = at(0, 2, 3)
const dlmmChange = at(1, 5, 6)
const dlmmOneSide = at(1, 4)
const dlmmCreate = at(0, 4, 5)
const damm1Change = at(0, 9, 10)
const damm2Change = at(1, 5, 6)
const launchTrade = at(4, 7, 8)
const pumpswapTrade = at(0, 7, 8)

interface PublishedVenue {
  readonly id: string
  readonly discriminatorBytes: 1 | 8
  readonly calls: Readonly<Record<string, readonly [name: string, places: PlacesOf]>>
}

const VENUES: Readonly<Record<string, PublishedVenue>> = {
  '675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8': {
    id: 'raydium-amm-v4',
    discriminatorBytes: 1,
    calls: {
      '01': ['initialize2', byCount({ 19: at(4, 9, 10), 21: at(4, 10, 11) })],
      '03': ['deposit', amm4Deposit],
      '04': ['withdraw', amm4Withdraw],
      '09': ['swap_base_in', amm4Swap],
      '0b': ['swap_base_out', amm4Swap],
      '10': ['swap_base_in_v2', at(1, 3, 4)],
      '11': ['swap_base_out_v2', at(1, 3, 4)]
    }
  },
  CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK: {
    id: 'raydium-clmm',
    discriminatorBytes: 8,
    calls: {
      f8c69e91e17587c8: ['swap', at(2, 5, 6)],
      '2b04ed0b1ac91e62': ['swap_v2', at(2, 5, 6)],
      '3a7fbc3e4f52c460': ['decrease_liquidity_v2', at(3, 5, 6)]
    }
  },
  CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C: {
    id: 'raydium-cpmm',
    discriminatorBytes: 8,
    calls: { '8fbe5adac41e33de': ['swap_base_input', at(3, 6, 7)] }
  },
  LanMV9sAd7wArD4vJFi2qDdfnVhFxYSUg6eADduJ3uj: {
    id: 'raydium-launchlab',
    discriminatorBytes: 8,
    calls: {
      afaf6d1f0d989bed: ['initialize', at(5, 8, 9)],
      '4399af27da102620': ['initialize_v2', at(5, 8, 9)],
      faea0d7bd59c13ec: ['buy_exact_in', launchTrade],
      '18d3742869039938': ['buy_exact_out', launchTrade],
      '9527de9bd37c981a': ['sell_exact_in', launchTrade]
    }
  },
  LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo: {
    id: 'meteora-dlmm',
    discriminatorBytes: 8,
    calls: {
      f8c69e91e17587c8: ['swap', dlmmSwap],
      '414b3f4ceb5b5b88': ['swap2', dlmmSwap],
      fa49652126cf4bb8: ['swap_exact_out', dlmmSwap],
      '2d9aedd2dd0fa65c': ['initialize_lb_pair', dlmmCreate],
      '493b2478ed536cc6': ['initialize_lb_pair2', dlmmCreate],
      '2e2729876fb7c840': ['initialize_customizable_permissionless_lb_pair', dlmmCreate],
      f349817e3313f16b: ['initialize_customizable_permissionless_lb_pair2', dlmmCreate],
      '6c66d555fb033515': ['initialize_permission_lb_pair', at(1, 5, 6)],
      b59d59438fb63448: ['add_liquidity', dlmmChange],
      e4a24e1c46db7473: ['add_liquidity2', dlmmChange],
      '0703967f94283dc8': ['add_liquidity_by_strategy', dlmmChange],
      '03dd95da6f8d76d5': ['add_liquidity_by_strategy2', dlmmChange],
      '2905eeaf64e106cd': ['add_liquidity_by_strategy_one_side', dlmmOneSide],
      '1c8cee63e7a21595': ['add_liquidity_by_weight', dlmmChange],
      '5e9b6797465fdca5': ['add_liquidity_one_side', dlmmOneSide],
      '2133a3c975627de7': ['add_liquidity_one_side_precise2', dlmmOneSide],
      '5055d14818ceb16c': ['remove_liquidity', dlmmChange],
      e6d7527ff165e392: ['remove_liquidity2', dlmmChange],
      '1a526698f04a691a': ['remove_liquidity_by_range', dlmmChange],
      cc02c391359191cd: ['remove_liquidity_by_range2', dlmmChange],
      '0a333d2370691855': ['remove_all_liquidity', dlmmChange],
      '5c04b0c177b95309': ['rebalance_liquidity', dlmmChange]
    }
  },
  Eo7WjKq67rjJQSZxS6z3YkapzY3eMj6Xy8X5EQVn5UaB: {
    id: 'meteora-damm-v1',
    discriminatorBytes: 8,
    calls: {
      f8c69e91e17587c8: ['swap', at(0, 5, 6)],
      a8e3323ebdab54b0: ['add_balance_liquidity', damm1Change],
      '856d2cb338ee7221': ['remove_balance_liquidity', damm1Change]
    }
  },
  cpamdpZCGKUy5JxQXB4dcpGPiikHawvSWAd6mEn1sGG: {
    id: 'meteora-damm-v2',
    discriminatorBytes: 8,
    calls: {
      f8c69e91e17587c8: ['swap', at(1, 4, 5)],
      '414b3f4ceb5b5b88': ['swap2', at(1, 4, 5)],
      '5fb40aac54aee828': ['initialize_pool', at(6, 10, 11)],
      '955248c5fdfc440f': ['initialize_pool_with_dynamic_config', at(7, 11, 12)],
      '14a1f118bdddb402': ['initialize_customizable_pool', at(5, 9, 10)],
      b59d59438fb63448: ['add_liquidity', at(0, 4, 5)],
      '5055d14818ceb16c': ['remove_liquidity', damm2Change],
      '0a333d2370691855': ['remove_all_liquidity', damm2Change]
    }
  },
  dbcij3LWUppWqq96dh6gJWwBifmcGfLSB5D4DuSMaqN: {
    id: 'meteora-dbc',
    discriminatorBytes: 8,
    calls: { f8c69e91e17587c8: ['swap', at(2, 5, 6)] }
  },
  '6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P': {
    id: 'pumpfun',
    discriminatorBytes: 8,
    calls: {
      '181ec828051c0777': ['create', curve(2, 3)],
      d6904cec5f8b31b4: ['create_v2', curve(2, 3)],
      '66063d1201daebea': ['buy', curve(3, 4)],
      '38fc74089edfcd5f': ['buy_exact_sol_in', curve(3, 4)],
      '33e685a4017f83ad': ['sell', curve(3, 4)],
      b817ee6167c5d33d: ['buy_v2', at(10, 11, 12)]
    }
  },
  pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA: {
    id: 'pumpswap',
    discriminatorBytes: 8,
    calls: {
      '66063d1201daebea': ['buy', pumpswapTrade],
      c62e1552b4d9e870: ['buy_exact_quote_in', pumpswapTrade],
      '33e685a4017f83ad': ['sell', pumpswapTrade],
      e992d18ecf6840bc: ['create_pool', at(0, 9, 10)],
      f223c68952e1f2b6: ['deposit', at(0, 9, 10)],
      b712469c946da122: ['withdraw', at(0, 9, 10)]
    }
  },
  whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc: {
    id: 'orca-whirlpool',
    discriminatorBytes: 8,
    calls: {
      f8c69e91e17587c8: ['swap', at(2, 4, 6)],
      '2b04ed0b1ac91e62': ['swap_v2', at(4, 8, 10)],
      c360ed6c44a2dbe6: ['two_hop_swap', [at(2, 5, 7), at(3, 9, 11)]]
    }
  },
  MoonCVVNZFSYkqNXP6bxHLPL6QQJiMagDL3qcqUQTrG: {
    id: 'moonshot',
    discriminatorBytes: 8,
    calls: {
      '66063d1201daebea': ['buy', curve(2, 3)],
      '33e685a4017f83ad': ['sell', curve(2, 3)]
    }
  },
  '2wT8Yq49kHgDzXuPxZSaeLaH1qbmGXtEyPy64bL7aD3c': {
    id: 'lifinity',
    discriminatorBytes: 8,
    calls: { f8c69e91e17587c8: ['swap', at(1, 5, 6)] }
  },
  PhoeNiXZ8ByJGLkxNfZRnkUfjvmuYqLR89jjFHGqdXY: {
    id: 'phoenix',
    discriminatorBytes: 1,
    calls: {
      '00': ['swap', at(2, 6, 7)],
      '02': ['place_limit_order', at(2, 7, 8)]
    }
  }
}
