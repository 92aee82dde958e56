import t from 'tap'
import { CashList } from '../../src/market/cash.ts'
import { OPTIONS, OTHER, PEGGED, SOL, TETHER, TOKEN, USD_COIN } from './world.ts'

const { cash } = OPTIONS

t.test('the one cash side of a trade is found on either side', async (t) => {
  for (const mint of [SOL, USD_COIN, TETHER, PEGGED]) {
    t.equal(cash.sideOf({ inMint: mint, outMint: TOKEN }), 'in', 'cash spent is a buy')
    t.equal(cash.sideOf({ inMint: TOKEN, outMint: mint }), 'out', 'cash received is a sell')
  }
})

t.test('between two cash mints the earlier of SOL, USDC, USDT and the operator’s is the token', async (t) => {
  const ranked = [SOL, USD_COIN, TETHER, PEGGED]
  for (const [i, earlier] of ranked.entries()) {
    for (const later of ranked.slice(i + 1)) {
      t.equal(cash.sideOf({ inMint: later, outMint: earlier }), 'in')
      t.equal(cash.sideOf({ inMint: earlier, outMint: later }), 'out')
    }
  }
})

t.test('a trade of two tokens has no cash side', async (t) => {
  t.equal(cash.sideOf({ inMint: TOKEN, outMint: OTHER }), null)
})

t.test('an operator’s mint is pegged and nameless, and is no cash where it is not listed', async (t) => {
  t.match(cash.of(PEGGED), { symbol: null, pegged: true, rank: 3 })
  t.equal(new CashList().of(PEGGED), undefined)
})

t.test('listing a default mint again changes neither its rank nor its peg', async (t) => {
  const list = new CashList([SOL, PEGGED])
  t.match(list.of(SOL), { symbol: 'SOL', pegged: false, rank: 0 })
  t.match(list.of(USD_COIN), { symbol: 'USDC', pegged: true, rank: 1 })
  t.match(list.of(TETHER), { symbol: 'USDT', pegged: true, rank: 2 })
  t.match(list.of(PEGGED), { rank: 3 })
})
