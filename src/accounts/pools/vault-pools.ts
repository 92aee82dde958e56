import { samePubkey, type Pubkey } from '../../chain/pubkey.ts'
import type { VenueId } from '../../chain/venue-id.ts'
import { isKind, keyAt, u64At } from '../account-fields.ts'
import type { AccountSet } from '../account-set.ts'
import { isRefused } from '../optional-key.ts'
import type { Account } from '../ports.ts'
import { refused, type Refused } from '../refused.ts'
import { readTokenAccount } from '../token-account.ts'
import type { PoolSide, PoolState } from './pool-state.ts'

/** Offsets in bytes of a pool account's fields, for both tokens. */
interface VaultPool {
  /** Minimum length of the account over all versions. The exact length if there is no discriminator. */
  readonly bytes: number
  /** Null for a program that marks its accounts by their length alone. */
  readonly discriminator: string | null
  readonly mints: readonly [number, number]
  readonly vaults: readonly [number, number]
  /** u64 fields with amounts in the vault that the pool does not own. A field past the end of the account is zero. */
  readonly owed?: readonly [readonly number[], readonly number[]]
}

/**
 * Venues whose pools have a token account for each token. Sources: the programs, their published interfaces and the venues'
 * own software kits (docs, accounts).
 */
export const VAULT_POOLS: Partial<Readonly<Record<VenueId, VaultPool>>> = {
  // need_take_pnl. Tokens that the pool once had in an order book are not in its vaults.
  'raydium-amm-v4': {
    bytes: 752,
    discriminator: null,
    mints: [400, 432],
    vaults: [336, 368],
    owed: [[192], [200]]
  },
  'raydium-stable': { bytes: 1232, discriminator: null, mints: [432, 464], vaults: [368, 400] },
  // Fees of the protocol, then of the fund.
  'raydium-clmm': {
    bytes: 1544,
    discriminator: 'f7ede3f5d7c3de46',
    mints: [73, 105],
    vaults: [137, 169],
    owed: [
      [309, 1064],
      [317, 1072]
    ]
  },
  // Fees of the protocol, the fund and the creator, in this order.
  'raydium-cpmm': {
    bytes: 637,
    discriminator: 'f7ede3f5d7c3de46',
    mints: [168, 200],
    vaults: [72, 104],
    owed: [
      [341, 357, 397],
      [349, 365, 405]
    ]
  },
  'meteora-dlmm': {
    bytes: 904,
    discriminator: '210b3162b565b10d',
    mints: [88, 120],
    vaults: [152, 184],
    owed: [[216], [224]]
  },
  'meteora-damm-v2': {
    bytes: 1112,
    discriminator: 'f19a6d0411b16dbc',
    mints: [168, 200],
    vaults: [232, 264],
    owed: [[392], [400]]
  },
  // Fees of the protocol, then of the creator, both in the quote; since version 287 of the account.
  pumpswap: {
    bytes: 211,
    discriminator: 'f19a6d0411b16dbc',
    mints: [43, 75],
    vaults: [139, 171],
    owed: [[], [271, 279]]
  },
  'orca-whirlpool': {
    bytes: 653,
    discriminator: '3f95d10ce1806309',
    mints: [101, 181],
    vaults: [133, 213],
    owed: [[85], [93]]
  },
  lifinity: { bytes: 615, discriminator: '8ff5c8114ad6c487', mints: [254, 286], vaults: [158, 190] },
  // The vaults of a market also hold the tokens of resting orders, and those that traders have not withdrawn.
  phoenix: { bytes: 576, discriminator: '', mints: [48, 128], vaults: [80, 160] }
}

/** Reads a pool whose tokens are in two token accounts. */
export function readVaultPool(
  layout: VaultPool,
  { data }: Account,
  accounts: AccountSet
): PoolState | Refused {
  const { bytes, discriminator, mints, vaults, owed = [[], []] } = layout
  if (discriminator === null ? data.length !== bytes : !isKind(data, discriminator, bytes))
    return refused('is not a pool of its venue')
  const owedOf = (fields: readonly number[]): bigint =>
    fields.reduce((sum, at) => (at + 8 <= data.length ? sum + u64At(data, at) : sum), 0n)
  const sides = ([0, 1] as const).map((side) => {
    const mint = keyAt(data, mints[side])
    return vaultSide(mint, keyAt(data, vaults[side]), owedOf(owed[side]), accounts)
  })
  const [first, second] = sides as [PoolSide | Refused, PoolSide | Refused]
  if (isRefused(first)) return first
  if (isRefused(second)) return second
  return { kind: 'pool', sides: [first, second], curve: null }
}

/** Reads a token's side from its vault, without the amounts that the vault owes to others. */
export function vaultSide(
  mint: Pubkey,
  vault: Pubkey,
  owed: bigint,
  accounts: AccountSet
): PoolSide | Refused {
  const balance = tokensOf(vault, mint, accounts)
  if (typeof balance !== 'bigint') return balance
  if (balance < owed) return refused('owes more than its vault holds')
  return { mint, vault, reserve: balance - owed }
}

/** Reads the balance of a token account, in base units. Refuses an account of another mint. */
export function tokensOf(address: Pubkey, mint: Pubkey, accounts: AccountSet): bigint | Refused {
  const account = accounts.get(address)
  if (account === null) return refused('names a vault that does not exist')
  const vault = readTokenAccount(account)
  if (isRefused(vault)) return refused(`names a vault that ${vault.reason}`)
  return samePubkey(vault.mint, mint) ? vault.amount : refused('names a vault of another mint')
}
