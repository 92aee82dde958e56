import { pubkeyFromBase58, samePubkey, type Pubkey } from '../../chain/pubkey.ts'
import { i64At, isKind, keyAt, u64At } from '../account-fields.ts'
import type { AccountSet } from '../account-set.ts'
import { CLOCK_BYTES, CLOCK_SYSVAR } from '../clock.ts'
import { readMintAccount } from '../mint-account.ts'
import { isRefused } from '../optional-key.ts'
import type { Account } from '../ports.ts'
import { refused, type Refused } from '../refused.ts'
import type { PoolSide, PoolState } from './pool-state.ts'
import { tokensOf } from './vault-pools.ts'

// Sources: the interfaces and software kits of Meteora's DAMM v1 and of its vault.

const POOL_BYTES = 363
const VAULT_BYTES = 1227
const VAULT_PROGRAM = pubkeyFromBase58('24Uqj9JCLxUeoC3hGfh5W3s9FM9uCHDS2SG3LYwBpyTi')
/** One, in the unit of `locked_profit_degradation`. */
const WHOLE = 1_000_000_000_000n

/**
 * Reads a pool of Meteora DAMM v1. Its tokens are in two vaults that it shares with other pools. Its portion of a
 * vault's unlocked tokens is proportional to its vault shares.
 */
export function readSharedVaultPool({ data }: Account, accounts: AccountSet): PoolState | Refused {
  if (!isKind(data, 'f19a6d0411b16dbc', POOL_BYTES)) return refused('is not a pool of its venue')
  const first = sideOf(keyAt(data, 40), keyAt(data, 104), keyAt(data, 168), accounts)
  const second = sideOf(keyAt(data, 72), keyAt(data, 136), keyAt(data, 200), accounts)
  if (isRefused(first)) return first
  if (isRefused(second)) return second
  return { kind: 'pool', sides: [first, second], curve: null }
}

/** Reads one side: `vault` is an account of the vault program, `shares` the pool's account of its shares. */
function sideOf(mint: Pubkey, vault: Pubkey, shares: Pubkey, accounts: AccountSet): PoolSide | Refused {
  const account = accounts.get(vault)
  if (account === null) return refused('names a vault that does not exist')
  const { owner, data } = account
  if (!samePubkey(owner, VAULT_PROGRAM) || !isKind(data, 'd308e82b02987577', VAULT_BYTES))
    return refused('names a vault of another program')
  if (!samePubkey(keyAt(data, 83), mint)) return refused('names a vault of another mint')
  const shareMint = keyAt(data, 115)
  const supply = supplyOf(shareMint, accounts)
  const held = tokensOf(shares, shareMint, accounts)
  const unlocked = unlockedOf(data, accounts)
  if (isRefused(supply)) return supply
  if (isRefused(held)) return held
  if (isRefused(unlocked)) return unlocked
  return { mint, vault: null, reserve: supply === 0n ? 0n : (unlocked * held) / supply }
}

function supplyOf(address: Pubkey, accounts: AccountSet): bigint | Refused {
  const account = accounts.get(address)
  if (account === null) return refused('names a vault whose mint of shares does not exist')
  const mint = readMintAccount(account)
  return isRefused(mint) ? refused(`names a mint of shares that ${mint.reason}`) : mint.supply
}

/** Returns a vault's tokens without the locked profit, which unlocks gradually every second. */
function unlockedOf(data: Uint8Array, accounts: AccountSet): bigint | Refused {
  const [total, profit, reportedAt, freedPerSecond] = [11, 1203, 1211, 1219].map((at) => u64At(data, at)) as [
    bigint,
    bigint,
    bigint,
    bigint
  ]
  if (profit === 0n) return total
  const clock = accounts.get(CLOCK_SYSVAR)
  if (clock?.data.length !== CLOCK_BYTES) return refused('locks profit, and the clock cannot be read')
  const seconds = i64At(clock.data, 32) - reportedAt
  if (seconds < 0n) return refused('names a vault whose profit is from the future')
  const freed = seconds * freedPerSecond
  const locked = freed > WHOLE ? 0n : (profit * (WHOLE - freed)) / WHOLE
  return total < locked ? refused('locks more than its vault holds') : total - locked
}
