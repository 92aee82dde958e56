import t from 'tap'
import { metaplexAddress, readMetaplex } from '../../../src/accounts/metaplex.ts'
import { pubkeyMapKey, samePubkey } from '../../../src/chain/pubkey.ts'
import { isRefused } from '../../../src/accounts/optional-key.ts'
import { foundMarket } from '../../../src/localnet/market/genesis.ts'
import { Ledger } from '../../../src/localnet/market/ledger.ts'
import { peopleOf } from '../../../src/localnet/market/people.ts'
import { ReferencePrices } from '../../../src/localnet/market/prices.ts'
import { mintAccount } from '../../../src/localnet/market/token-layouts.ts'

/** Market caps of established tokens, in USD: those of small and middling tokens of mainnet. */
const CAP_USD = { min: 20e6, max: 1e9 }

t.test(
  'established tokens have names that the reader of accounts finds, and believable supplies',
  async (t) => {
    const prices = new ReferencePrices('a-seed')
    const accounts = foundMarket(new Ledger(), 'a-seed', { people: peopleOf('a-seed'), prices })
    const byAddress = new Map(accounts.map((account) => [pubkeyMapKey(account.address), account]))
    t.ok(prices.listed.length >= 8)
    t.equal(new Set(prices.listed.map(({ name }) => name)).size, prices.listed.length)
    for (const { mint, symbol, name, decimals, usd } of prices.listed) {
      const read = readMetaplex(byAddress.get(pubkeyMapKey(metaplexAddress(mint)))!)
      if (isRefused(read)) throw new Error(read.reason)
      t.match(read, { symbol, name, isMutable: false })
      t.ok(samePubkey(read.mint, mint))
      const { data } = byAddress.get(pubkeyMapKey(mint))!
      const cap = (Number(mintAccount.supply(data)) / 10 ** decimals) * usd
      t.ok(cap > CAP_USD.min && cap < CAP_USD.max, `${symbol} is worth ${Math.round(cap / 1e6)} million`)
    }
  }
)
