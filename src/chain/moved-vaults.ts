import type { Note } from './emitter.ts'
import type { KnownVault, KnownVaults } from './known-vaults.ts'
import { Movements } from './movements.ts'
import { PubkeyTable, pubkeyToBase58, samePubkey } from './pubkey.ts'
import type { AccountKeys, TokenBalance, Transaction } from './transaction.ts'
import type { VenueId } from './venue-id.ts'
import { VENUES_BY_PROGRAM } from './venues.ts'

/** Meteora's vault program, which holds the tokens of DAMM v1 pools and lends them. Its calls are not trades of a pool. */
const SHARED_VAULTS = new PubkeyTable<VenueId>([
  ['24Uqj9JCLxUeoC3hGfh5W3s9FM9uCHDS2SG3LYwBpyTi', 'meteora-damm-v1']
])

/** A change of a vault's balance that no call of its program can have caused. */
interface VaultMove {
  readonly vault: KnownVault
  readonly balance: TokenBalance
  /** Base units; negative for tokens that left. */
  readonly change: bigint
}

const NONE: readonly Note[] = []

/**
 * Returns a note for each pool with a vault whose balance a transaction changes without a call of the pool's program that
 * names the vault. A program moves only accounts that are passed to it. So such a call explains any change, whatever its
 * instruction: trades, liquidity, fees and migrations are never noted here.
 *
 * - `vault-moved`, a hole: tokens left a vault. Only the program signs for that. So a call was not recorded, or another
 *   program owns the vault now. A trade may be missing.
 * - `seized`: another authority than the vault's owner took all that left (the permanent delegate of a Token-2022 mint).
 *   The pool's program was not involved, so no trade is missing.
 * - `donated`: vaults only received tokens. Anybody can send tokens, and no trade only pays in.
 */
export function notesOfMovedVaults(transaction: Transaction, vaults: KnownVaults): readonly Note[] {
  const { failed, keys, unstated, preTokenBalances, postTokenBalances } = transaction
  if (failed || unstated?.includes('token-balances') === true) return NONE
  let moves: VaultMove[] | null = null
  for (let place = 0; place < preTokenBalances.length; place++) {
    const before = preTokenBalances[place]!
    const after = balanceOf(before.account, postTokenBalances, place)
    if (after !== null && isSameAmount(before, after)) continue
    const vault = vaults.ofHash(keys.hash(before.account))
    if (vault === undefined || mayBeCalled(transaction, before.account, vault.venue)) continue
    // Only now: most transactions call the vaults, and this would decode an address in base58 for each of them.
    if (pubkeyToBase58(keys.bytes(before.account)) !== vault.address) continue
    moves ??= []
    moves.push({ vault, balance: before, change: (after?.amount ?? 0n) - before.amount })
  }
  return moves === null ? NONE : notesOf(moves, transaction)
}

/** Returns the balance of an account. Most lists have it at one place before and after. */
function balanceOf(account: number, balances: readonly TokenBalance[], place: number): TokenBalance | null {
  const here = balances[place]
  if (here?.account === account) return here
  for (const balance of balances) if (balance.account === account) return balance
  return null
}

function isSameAmount(a: TokenBalance, b: TokenBalance): boolean {
  return a.amountText === undefined || b.amountText === undefined
    ? a.amount === b.amount
    : a.amountText === b.amountText
}

/** Tells whether the venue's program was called with an account, or may have been if inner calls are not recorded. */
function mayBeCalled(
  { instructions, keys, unstated }: Transaction,
  account: number,
  venue: VenueId
): boolean {
  for (const { program, accounts } of instructions)
    if (includes(accounts, account) && isProgramOf(venue, keys, program)) return true
  if (unstated?.includes('inner-instructions') !== true) return false
  for (let key = 0; key < keys.length; key++) if (isProgramOf(venue, keys, key)) return true
  return false
}

function includes(accounts: ArrayLike<number>, account: number): boolean {
  for (let at = 0; at < accounts.length; at++) if (accounts[at] === account) return true
  return false
}

function isProgramOf(venue: VenueId, keys: AccountKeys, key: number): boolean {
  return keys.lookup(key, VENUES_BY_PROGRAM)?.id === venue || keys.lookup(key, SHARED_VAULTS) === venue
}

function notesOf(moves: readonly VaultMove[], transaction: Transaction): readonly Note[] {
  const movements = new Movements(transaction).all()
  const isSeized = ({ balance: { account, owner }, change }: VaultMove): boolean => {
    if (owner === null) return false
    let seized = 0n
    for (const { source, destination, authority, amount } of movements) {
      if (source === account) {
        if (authority < 0 || samePubkey(transaction.keys.bytes(authority), owner)) return false
        seized += amount
      }
      if (destination === account) seized -= amount
    }
    return seized === -change
  }
  return Array.from(Map.groupBy(moves, ({ vault }) => vault.pool).values(), (own): Note => {
    const [{ vault, balance }] = own as [VaultMove, ...VaultMove[]]
    const moving = movements.find(
      ({ source, destination }) => source === balance.account || destination === balance.account
    )
    const { outerIndex: ixIndex, innerIndex: innerIxIndex } = moving?.instruction ?? {
      outerIndex: 0,
      innerIndex: null
    }
    const detail = `pool ${vault.pool}: ${own.map((move) => `${move.vault.address} ${move.change}`).join(', ')}`
    const origin = { venue: vault.venue, ixIndex, innerIxIndex, detail }
    const left = own.filter(({ change }) => change < 0n)
    if (left.every(isSeized))
      return { ...origin, kind: 'vault-transfer', transfer: left.length > 0 ? 'seized' : 'donated' }
    return { ...origin, kind: 'missing', reason: 'vault-moved' }
  })
}
