import type { Coin } from './coin.ts'
import type { MarketState } from './market-state.ts'
import type { MarketTurn } from './turn.ts'

/**
 * Number of dead coins that remain, so that a holder of several sells them in one sweep. Fewer would cost a
 * transaction each; more would leave more dead accounts.
 */
const WAITING_COINS = 10
/** Maximum number of coins in one sweep: as many as fit a packet. */
const SWEPT_MAX = 6

/** Retires a coin: it is no longer traded, on its curve or in its pool. Its holders close their accounts later. */
export function abandonCoin(state: MarketState, coin: Coin): void {
  const { head, coins, abandoned, pairs } = state
  head.liveCoins = head.liveCoins.filter((live) => live !== coin.id)
  coins.delete(coin.id)
  if (coin.everHeld.length > 0) {
    head.abandonedCoins.push(coin.id)
    abandoned.set(coin.id, coin)
  }
  state.touch(coin)
  for (const pair of pairs.values()) {
    if (pair.coin !== coin.id) continue
    pairs.delete(pair.id)
    state.touch(pair)
  }
}

/**
 * Lets holders burn the rest of dead coins and close the accounts, as people do for their rent. Otherwise a chain with
 * a launch every ten seconds would have a million accounts of dead coins after a week.
 */
export function sweepCoins(turn: MarketTurn): void {
  const { state } = turn.parts
  for (let left = state.abandoned.size - WAITING_COINS; left > 0; left -= WAITING_COINS) sweep(turn)
}

function sweep(turn: MarketTurn): void {
  const { state, people, ledger } = turn.parts
  const { head, abandoned } = state
  const [oldest] = abandoned.values()
  const holder = oldest?.everHeld[0]
  if (oldest === undefined || holder === undefined) return
  const owner = people.traders[holder]!
  const swept = [...abandoned.values()]
    .filter(({ everHeld }) => everHeld.includes(holder))
    .slice(0, SWEPT_MAX)
  const accounts = swept.map(({ mint }) => ({ mint, address: ledger.tokenAccountOf(owner, mint) }))
  const open = accounts.filter(({ address }) => ledger.data(address) !== null)
  if (open.length > 0) {
    const done = turn.run({ kind: 'sweep', payer: owner }, (script) => {
      for (const { mint, address } of open) {
        const amount = ledger.tokens(address)
        if (amount > 0n) script.burn({ mint, from: address, authority: owner, amount })
        script.closeTokenAccount(address, owner, owner)
      }
    })
    if (!done) {
      // A holder who cannot pay the fee is tried last.
      oldest.everHeld = [...oldest.everHeld.slice(1), holder]
      return
    }
  }
  for (const coin of swept) {
    coin.everHeld = coin.everHeld.filter((number) => number !== holder)
    state.touch(coin)
    if (coin.everHeld.length > 0) continue
    abandoned.delete(coin.id)
    head.abandonedCoins = head.abandonedCoins.filter((id) => id !== coin.id)
  }
}
