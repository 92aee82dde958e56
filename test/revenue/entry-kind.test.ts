import t from 'tap'
import { sell, buy } from '../../src/chain/venues/pumpfun-instructions.ts'
import { tradeEvent } from '../../src/chain/venues/pumpfun-events.ts'
import { pumpfun } from '../../src/chain/venues/pumpfun.ts'
import { swapBaseInput } from '../../src/chain/venues/raydium-cpmm-layouts.ts'
import { raydiumCpmm } from '../../src/chain/venues/raydium-cpmm.ts'
import { WSOL } from '../../src/market/cash.ts'
import {
  burn,
  harvestFees,
  checkedTransfer,
  keyOf,
  lamportTransfer,
  mintTo,
  tokenTransfer,
  syncNative,
  withdrawFees,
  type BalanceSpec,
  type CallSpec
} from '../chain/build-transaction.ts'
import { changedTransaction, changesFor, shown, type ChangedSpec } from './changed-balances.ts'

const NAMES = [
  'alice',
  'bob',
  'carol',
  'tip',
  'gold',
  'coin',
  'curve',
  'pool',
  'authority',
  'fees',
  'creator'
]
const RENT = 2000

/** Shows the changes of a name, with wrapped SOL as `wsol`. */
const seenBy = (name: string, spec: ChangedSpec): readonly string[] =>
  shown(changesFor(name, changedTransaction(spec)), NAMES).map((text) => text.replace(WSOL, 'wsol'))

/** A token account that the transaction creates or closes where a side is null. */
function account(
  name: string,
  owner: string,
  mint: string,
  [before, after]: readonly [bigint | null, bigint | null]
): BalanceSpec {
  return { account: name, mint, owner, decimals: 6, before, after }
}

const call = (...accounts: string[]): CallSpec => ({ program: 'program', accounts, data: new Uint8Array(0) })

t.test('the fee is an entry of its payer if nothing else moved the lamports', async (t) => {
  const spec = { signers: ['alice'], calls: [call('alice')] }
  t.strictSame(seenBy('alice', { ...spec, lamports: { alice: [9000, 4000] } }), [
    'lamports -5000 fee - none @-'
  ])
  t.strictSame(seenBy('alice', { ...spec, lamports: { alice: [9000, 3999] } }), [
    'lamports -5001 other - none @0'
  ])
  t.strictSame(
    seenBy('bob', { ...spec, calls: [call('bob')], lamports: { alice: [9000, 4000], bob: [9000, 4000] } }),
    ['lamports -5000 other - none @0'],
    'another account that lost the same has paid no fee'
  )
})

t.test('a failed transaction costs a fee, also where lamports above 2^53 are rounded', async (t) => {
  const spec = { signers: ['alice'], calls: [call('alice')], failed: true }
  t.strictSame(seenBy('alice', { ...spec, lamports: { alice: [2 ** 60, 2 ** 60 - 5000] } }), [
    'lamports -4992 fee - none @-'
  ])
})

// A buy of 2,000 coins from a curve for 1,000 lamports, with fees of 10 and 3 lamports.
const BOUGHT = {
  mint: keyOf('coin'),
  solAmount: 1000n,
  tokenAmount: 2000n,
  isBuy: true,
  user: keyOf('alice'),
  timestamp: 1n,
  virtualSolReserves: 31_000n,
  virtualTokenReserves: 998_000n,
  realSolReserves: 1000n,
  realTokenReserves: 700_000n,
  feeRecipient: keyOf('fees'),
  feeBasisPoints: 95n,
  fee: 10n,
  creator: keyOf('creator'),
  creatorFeeBasisPoints: 30n,
  creatorFee: 3n
}
const PUMP = ['global', 'fees', 'coin', 'curve', 'curve coins', 'alice coins', 'alice', 'creator']

const bought: CallSpec = {
  program: pumpfun.programs[0]!,
  accounts: PUMP,
  data: buy.write({ amount: 2000n, maxSolCost: 9999n }),
  inner: [
    checkedTransfer('curve coins', 'coin', 'alice coins', 'curve', 2000n, 6),
    lamportTransfer('alice', 'curve', 1000n),
    lamportTransfer('alice', 'fees', 10n),
    lamportTransfer('alice', 'creator', 3n)
  ],
  logged: [tradeEvent.write(BOUGHT)]
}
const COINS = (count: bigint): readonly BalanceSpec[] => [
  account('curve coins', 'curve', 'coin', [1_000_000n, 1_000_000n - 2000n * count]),
  account('alice coins', 'alice', 'coin', [0n, 2000n * count])
]
const BUY: ChangedSpec = {
  signers: ['alice'],
  calls: [call('budget'), bought],
  balances: COINS(1n),
  lamports: { alice: [90_000, 83_987], curve: [0, 1000], fees: [0, 10], creator: [0, 3] }
}

t.test('a trade is a swap of its trader with the pool, in each of its mints', async (t) => {
  t.strictSame(seenBy('alice', BUY), [
    'lamports -6013 swap curve inferred @1',
    'coin 2000 swap curve exact @1'
  ])
  t.strictSame(seenBy('curve', BUY), [
    'lamports 1000 transfer alice inferred @1',
    'coin -2000 transfer alice exact @1'
  ])
})

t.test('an account of a trader that is watched itself has a swap', async (t) => {
  t.strictSame(seenBy('alice coins', BUY), ['coin 2000 swap curve exact @1'])
})

t.test('a mint that no trade moved is no swap', async (t) => {
  const more = { ...BUY, calls: [...BUY.calls, tokenTransfer('alice gold', 'bob gold', 'alice', 1n)] }
  const gold = [
    account('alice gold', 'alice', 'gold', [1n, 0n]),
    account('bob gold', 'bob', 'gold', [0n, 1n])
  ]
  t.strictSame(
    seenBy('alice', { ...more, balances: [...COINS(1n), ...gold] }).at(-1),
    'gold -1 transfer bob exact @2'
  )
})

t.test('trades in several instructions leave the instruction open', async (t) => {
  const twice = {
    ...BUY,
    calls: [bought, bought],
    balances: COINS(2n),
    lamports: { alice: [90_000, 82_974], curve: [0, 2000], fees: [0, 20], creator: [0, 6] } as const
  }
  t.strictSame(seenBy('alice', twice), [
    'lamports -7026 swap curve inferred @-',
    'coin 4000 swap curve exact @-'
  ])
  t.strictSame(seenBy('fees', twice), ['lamports 20 fee alice inferred @-'], 'and their fees add up')
})

t.test('the inflow of a fee that a trade states is a fee, of one kind or of all', async (t) => {
  t.strictSame(seenBy('fees', BUY), ['lamports 10 fee alice inferred @1'])
  t.strictSame(seenBy('creator', BUY), ['lamports 3 fee alice inferred @1'])
  const together = { ...BUY, lamports: { ...BUY.lamports, fees: [0, 13], creator: [0, 0] } as const }
  t.strictSame(seenBy('fees', together), ['lamports 13 fee alice inferred @1'])
  const other = { ...BUY, lamports: { ...BUY.lamports, fees: [0, 11] } as const }
  t.strictSame(seenBy('fees', other), ['lamports 11 transfer alice inferred @1'])
  const lost = { ...BUY, lamports: { ...BUY.lamports, fees: [10, 0] } as const }
  t.strictSame(seenBy('fees', lost), ['lamports -10 transfer curve inferred @1'])
})

t.test('the inflow of a fee of one trade of several is a fee', async (t) => {
  const twice: ChangedSpec = {
    ...BUY,
    calls: [bought, bought],
    balances: COINS(2n),
    lamports: { alice: [90_000, 82_974], curve: [0, 2000], fees: [0, 10], creator: [0, 16] }
  }
  t.strictSame(seenBy('fees', twice), ['lamports 10 fee alice inferred @-'])
})

t.test('an inflow of another mint is no fee, whatever its amount', async (t) => {
  const gold = [
    account('alice gold', 'alice', 'gold', [10n, 0n]),
    account('fees gold', 'fees', 'gold', [0n, 10n])
  ]
  const more = {
    ...BUY,
    calls: [...BUY.calls, tokenTransfer('alice gold', 'fees gold', 'alice', 10n)],
    balances: [...COINS(1n), ...gold]
  }
  t.strictSame(seenBy('fees', more).at(-1), 'gold 10 transfer alice exact @2')
})

t.test('a payer of a fee who receives a trade fee has a fee', async (t) => {
  const paid = {
    ...BUY,
    signers: ['fees', 'alice'],
    lamports: { ...BUY.lamports, fees: [9000, 4010] } as const
  }
  t.strictSame(seenBy('fees', paid), ['lamports -4990 fee alice inferred @1'])
})

t.test("a trader's inflow is a swap, also where it equals a fee", async (t) => {
  const sold: ChangedSpec = {
    signers: ['bob', 'alice'],
    calls: [
      {
        ...bought,
        data: sell.write({ amount: 2000n, minSolOutput: 0n }),
        inner: [checkedTransfer('alice coins', 'coin', 'curve coins', 'alice', 2000n, 6)],
        logged: [tradeEvent.write({ ...BOUGHT, isBuy: false, solAmount: 23n })]
      }
    ],
    balances: [
      account('curve coins', 'curve', 'coin', [0n, 2000n]),
      account('alice coins', 'alice', 'coin', [2000n, 0n])
    ],
    lamports: { bob: [9000, 4000], alice: [0, 10], curve: [1000, 977], fees: [0, 10], creator: [0, 3] }
  }
  t.strictSame(seenBy('alice', sold), [
    'lamports 10 swap curve inferred @0',
    'coin -2000 swap curve exact @0'
  ])
  t.strictSame(seenBy('fees', sold), ['lamports 10 fee curve inferred @0'])
})

const SWAP: CallSpec = {
  program: raydiumCpmm.programs[0]!,
  accounts: [
    ...['alice', 'authority', 'config', 'pool', 'alice wsol', 'alice gold', 'vault wsol', 'vault gold'],
    ...['token', 'token', WSOL, 'gold', 'observation']
  ],
  data: swapBaseInput.write({ amountIn: 100n, minimumAmountOut: 0n }),
  inner: [
    tokenTransfer('alice wsol', 'vault wsol', 'alice', 100n),
    tokenTransfer('vault gold', 'alice gold', 'authority', 50n)
  ]
}
const SWAPPED = [
  account('vault wsol', 'authority', WSOL, [1000n, 1100n]),
  account('vault gold', 'authority', 'gold', [1000n, 950n]),
  account('alice gold', 'alice', 'gold', [0n, 50n])
]

t.test('lamports beside a swap of wrapped SOL are no part of it', async (t) => {
  const tipped: ChangedSpec = {
    signers: ['alice'],
    calls: [SWAP, lamportTransfer('alice', 'tip', 30n)],
    balances: [...SWAPPED, account('alice wsol', 'alice', WSOL, [400n, 300n])],
    lamports: {
      alice: [90_000, 84_970],
      tip: [0, 30],
      'alice wsol': [2400, 2300],
      'vault wsol': [3000, 3100]
    }
  }
  t.strictSame(seenBy('alice', tipped), [
    'lamports -5030 transfer tip exact @-',
    'wsol -100 swap authority exact @0',
    'gold 50 swap authority exact @0'
  ])
})

/** The sale of 80 gold for 70 wrapped SOL in another pool. */
const RESOLD: CallSpec = {
  ...SWAP,
  accounts: SWAP.accounts
    .with(3, 'pool 2')
    .with(4, 'alice gold')
    .with(5, 'alice wsol')
    .with(6, 'vault gold 2')
    .with(7, 'vault wsol 2'),
  data: swapBaseInput.write({ amountIn: 80n, minimumAmountOut: 0n }),
  inner: [
    tokenTransfer('alice gold', 'vault gold 2', 'alice', 80n),
    tokenTransfer('vault wsol 2', 'alice wsol', 'bob', 70n)
  ]
}
const RESALE = [
  account('vault gold 2', 'bob', 'gold', [0n, 80n]),
  account('vault wsol 2', 'bob', WSOL, [70n, 0n])
]

t.test('lamports beside a sale for wrapped SOL are no part of it', async (t) => {
  const tipped: ChangedSpec = {
    signers: ['alice'],
    calls: [RESOLD, lamportTransfer('alice', 'tip', 30n)],
    balances: [
      ...RESALE,
      account('alice gold', 'alice', 'gold', [80n, 0n]),
      account('alice wsol', 'alice', WSOL, [0n, 70n])
    ],
    lamports: { alice: [90_000, 84_970], tip: [0, 30] }
  }
  t.strictSame(seenBy('alice', tipped)[0], 'lamports -5030 transfer tip exact @-')
})

t.test('the pool of a swap is that of the trade in the direction of the change', async (t) => {
  const both: ChangedSpec = {
    signers: ['alice'],
    calls: [SWAP, RESOLD],
    balances: [
      account('vault wsol', 'authority', WSOL, [1000n, 1100n]),
      account('vault gold', 'authority', 'gold', [1000n, 950n]),
      ...RESALE,
      account('alice gold', 'alice', 'gold', [100n, 70n]),
      account('alice wsol', 'alice', WSOL, [400n, 370n])
    ]
  }
  const found = changesFor('alice', changedTransaction(both))
  t.strictSame(
    shown(found, [...NAMES, 'pool 2'])
      .map((text) => text.replace(WSOL, 'wsol'))
      .sort(),
    ['gold -30 swap pool 2 inferred @-', 'wsol -30 swap pool inferred @-']
  )
})

t.test('lamports that a swap wraps on its way are a swap', async (t) => {
  const wrapping: ChangedSpec = {
    signers: ['alice'],
    calls: [lamportTransfer('alice', 'alice wsol', 100n), SWAP],
    balances: SWAPPED,
    lamports: { alice: [90_000, 84_900], 'vault wsol': [3000, 3100] }
  }
  t.strictSame(seenBy('alice', wrapping)[0], 'lamports -5100 swap authority exact @1')
  const more: ChangedSpec = {
    ...wrapping,
    balances: [...SWAPPED, account('alice wsol', 'alice', WSOL, [0n, 60n])],
    lamports: { alice: [90_000, 84_840], 'alice wsol': [2000, 2060], 'vault wsol': [3000, 3100] }
  }
  t.strictSame(
    seenBy('alice', more).slice(0, 2),
    ['lamports -5160 swap pool inferred @1', 'wsol 60 unwrap - none @-'],
    'and the wrapped rest is unwrapped SOL'
  )
})

const WRAP: ChangedSpec = {
  signers: ['alice'],
  calls: [lamportTransfer('alice', 'alice wsol', 500n)],
  balances: [account('alice wsol', 'alice', WSOL, [null, 500n])],
  lamports: { alice: [90_000, 85_000 - 500 - RENT], 'alice wsol': [0, 500 + RENT] }
}

t.test('SOL that an address wraps or unwraps is no transfer', async (t) => {
  t.strictSame(seenBy('alice', WRAP), ['lamports -7500 unwrap - none @0', 'wsol 500 unwrap - none @0'])
  const opened = { ...WRAP, balances: [account('alice wsol', 'alice', WSOL, [1n, 501n])] }
  const without = { alice: [90_000, 84_500], 'alice wsol': [2001, 2501] } as const
  t.strictSame(
    seenBy('alice', { ...opened, lamports: without }),
    ['lamports -5500 unwrap - none @0', 'wsol 500 unwrap - none @0'],
    'into an account that exists'
  )
  const unwrap: ChangedSpec = {
    ...WRAP,
    calls: [call('alice wsol', 'alice')],
    balances: [account('alice wsol', 'alice', WSOL, [500n, null])],
    lamports: { alice: [90_000, 85_000 + 500 + RENT], 'alice wsol': [500 + RENT, 0] }
  }
  t.strictSame(seenBy('alice', unwrap), ['lamports -2500 unwrap - none @0', 'wsol -500 unwrap - none @0'])
})

t.test(
  'of two accounts of wrapped SOL only the one that moves against the lamports is unwrapped',
  async (t) => {
    const spec: ChangedSpec = {
      signers: ['payer'],
      calls: [call('alice wsol', 'other wsol', 'alice')],
      balances: [
        account('alice wsol', 'alice', WSOL, [500n, null]),
        account('other wsol', 'alice', WSOL, [0n, 200n])
      ],
      lamports: { alice: [0, 300 + RENT], 'alice wsol': [500 + RENT, 0], 'other wsol': [RENT, RENT + 200] }
    }
    t.strictSame(seenBy('alice', spec), [
      'lamports 2300 unwrap - none @0',
      'wsol -500 unwrap - none @0',
      'wsol 200 other - none @0'
    ])
  }
)

t.test('a sale for lamports is a swap beside wrapped SOL that was spent', async (t) => {
  const sold: ChangedSpec = {
    signers: ['alice'],
    calls: [
      {
        ...bought,
        data: sell.write({ amount: 2000n, minSolOutput: 0n }),
        inner: [checkedTransfer('alice coins', 'coin', 'curve coins', 'alice', 2000n, 6)],
        logged: [tradeEvent.write({ ...BOUGHT, isBuy: false })]
      },
      tokenTransfer('alice wsol', 'bob wsol', 'alice', 5n)
    ],
    balances: [
      account('curve coins', 'curve', 'coin', [0n, 2000n]),
      account('alice coins', 'alice', 'coin', [2000n, 0n]),
      account('alice wsol', 'alice', WSOL, [5n, 0n]),
      account('bob wsol', 'bob', WSOL, [0n, 5n])
    ],
    lamports: { alice: [9000, 4987], curve: [1000, 0], fees: [0, 10], creator: [0, 3] }
  }
  t.strictSame(seenBy('alice', sold)[0], 'lamports -4013 swap curve inferred @0')
})

t.test('a record without lamports has no counterparty of wrapped SOL by lamports', async (t) => {
  const built = changedTransaction({
    signers: ['payer'],
    calls: [call('a')],
    balances: [account('a', 'alice', WSOL, [500n, 0n])]
  })
  const bare = { ...built, preBalances: [], postBalances: [] }
  t.match(changesFor('alice', bare), [{ kind: 'other', counterparty: null }])
})

t.test('lamports that wrapping and rents do not explain are not unwrapped SOL', async (t) => {
  const tipped: ChangedSpec = {
    ...WRAP,
    calls: [...WRAP.calls, lamportTransfer('alice', 'tip', 30n)],
    lamports: { ...WRAP.lamports, alice: [90_000, 82_470], tip: [0, 30] }
  }
  t.strictSame(seenBy('alice', tipped), [
    'lamports -7530 transfer tip inferred @-',
    'wsol 500 unwrap - none @0'
  ])
})

t.test("rent of another's account beside wrapping is explained too", async (t) => {
  const both: ChangedSpec = {
    ...WRAP,
    calls: [...WRAP.calls, call('alice', 'bob gold')],
    balances: [...WRAP.balances!, account('bob gold', 'bob', 'gold', [null, 0n])],
    lamports: { ...WRAP.lamports, alice: [90_000, 82_500 - RENT], 'bob gold': [0, RENT] }
  }
  t.strictSame(seenBy('alice', both)[0], 'lamports -9500 unwrap - none @-')
})

t.test("lamports wrapped into another's account are a transfer for both", async (t) => {
  const given: ChangedSpec = {
    ...WRAP,
    balances: [account('alice wsol', 'bob', WSOL, [0n, 500n])],
    lamports: { alice: [90_000, 84_500], 'alice wsol': [2000, 2500] }
  }
  t.strictSame(seenBy('alice', given), ['lamports -5500 transfer bob exact @0'])
  t.strictSame(seenBy('bob', given), ['wsol 500 transfer alice exact @0'])
})

t.test('wrapped SOL that another gained is a transfer, whatever lamports did', async (t) => {
  const sent: ChangedSpec = {
    signers: ['alice'],
    calls: [tokenTransfer('alice wsol', 'bob wsol', 'alice', 500n), call('bob', 'alice')],
    balances: [
      account('alice wsol', 'alice', WSOL, [500n, 0n]),
      account('bob wsol', 'bob', WSOL, [0n, 500n])
    ],
    lamports: { alice: [90_000, 85_500], bob: [500, 0] }
  }
  t.strictSame(seenBy('alice', sent), [
    'lamports -4500 transfer bob exact @-',
    'wsol -500 transfer bob exact @0'
  ])
})

t.test('lamports put into a new token account are rent, whoever owns it', async (t) => {
  const opened = (owner: string): ChangedSpec => ({
    signers: ['alice'],
    calls: [call('alice', 'new gold')],
    balances: [account('new gold', owner, 'gold', [null, 0n])],
    lamports: { alice: [90_000, 85_000 - RENT], 'new gold': [0, RENT] }
  })
  t.strictSame(seenBy('alice', opened('alice')), ['lamports -7000 rent - none @0'])
  t.strictSame(seenBy('alice', opened('bob')), ['lamports -7000 rent bob exact @0'])
  t.strictSame(seenBy('new gold', opened('bob')), ['lamports 2000 rent alice exact @0'])
  const more = { ...opened('bob'), lamports: { alice: [90_000, 82_999], 'new gold': [0, RENT] } as const }
  t.strictSame(seenBy('alice', more), ['lamports -7001 transfer bob inferred @0'])
})

t.test('lamports of closed token accounts are rent', async (t) => {
  const closed: ChangedSpec = {
    signers: ['bob'],
    calls: [call('gold 1', 'gold 2', 'alice')],
    balances: [
      account('gold 1', 'alice', 'gold', [0n, null]),
      account('gold 2', 'alice', 'gold', [0n, null]),
      account('kept', 'alice', 'gold', [0n, 0n])
    ],
    lamports: { bob: [9000, 4000], alice: [0, 2 * RENT], 'gold 1': [RENT, 0], 'gold 2': [RENT, 0] }
  }
  t.strictSame(seenBy('alice', closed), ['lamports 4000 rent - none @0'])
  const others = { ...closed, balances: closed.balances!.map((each) => ({ ...each, owner: 'carol' })) }
  t.strictSame(seenBy('alice', others), ['lamports 4000 rent carol exact @0'])
})

t.test('rent of an own account is told apart from that of others', async (t) => {
  const both: ChangedSpec = {
    signers: ['carol', 'alice'],
    calls: [call('alice', 'new gold'), call('carol', 'bob gold')],
    balances: [
      account('new gold', 'alice', 'gold', [null, 0n]),
      account('bob gold', 'bob', 'gold', [null, 0n])
    ],
    lamports: {
      carol: [90_000, 85_000 - 3000],
      alice: [90_000, 90_000 - RENT],
      'new gold': [0, RENT],
      'bob gold': [0, 3000]
    }
  }
  t.strictSame(seenBy('alice', both), ['lamports -2000 rent bob inferred @0'])
})

t.test('tokens that nobody else gained or lost were minted or burned', async (t) => {
  const spec = { signers: ['payer'] }
  const made = {
    ...spec,
    calls: [mintTo('gold', 'a', 'carol', 9n)],
    balances: [account('a', 'alice', 'gold', [1n, 10n])]
  }
  t.strictSame(seenBy('alice', made), ['gold 9 mint - none @0'])
  const gone = {
    ...spec,
    calls: [burn('a', 'gold', 'alice', 9n)],
    balances: [account('a', 'alice', 'gold', [10n, 1n])]
  }
  t.strictSame(seenBy('alice', gone), ['gold -9 burn - none @0'])
  const shared = {
    ...spec,
    calls: [mintTo('gold', 'a', 'carol', 9n), mintTo('gold', 'b', 'carol', 4n)],
    balances: [...made.balances, account('b', 'bob', 'gold', [0n, 4n])]
  }
  t.strictSame(seenBy('alice', shared), ['gold 9 other - none @0'], 'a share of a mint is not told apart')
})

t.test('wrapped SOL is neither minted nor burned', async (t) => {
  const synced: ChangedSpec = {
    signers: ['payer'],
    calls: [call('a')],
    balances: [account('a', 'alice', WSOL, [0n, 500n])]
  }
  t.strictSame(seenBy('alice', synced), ['wsol 500 other - none @0'])
})

t.test('transfer fees that Token-2022 withheld are a fee when they are withdrawn, not a mint', async (t) => {
  const gold = (before: bigint, after: bigint): BalanceSpec =>
    account('alice gold', 'alice', 'gold', [before, after])
  for (const from of ['mint', 'accounts'] as const) {
    const spec = {
      signers: ['payer'],
      calls: [withdrawFees(from, 'gold', 'alice gold', 'payer')],
      balances: [gold(5n, 45n)]
    }
    t.strictSame(seenBy('alice', spec), ['gold 40 fee - none @0'], from)
  }
  const together = {
    signers: ['payer'],
    calls: [
      withdrawFees('mint', 'gold', 'alice gold', 'payer'),
      withdrawFees('accounts', 'gold', 'bob gold', 'payer')
    ],
    balances: [gold(5n, 45n), account('bob gold', 'bob', 'gold', [1n, 3n])]
  }
  t.strictSame(seenBy('alice', together), ['gold 40 fee - none @0'], 'beside a withdrawal of another')
  t.strictSame(seenBy('bob', together), ['gold 2 fee - none @1'])
  const passedOn = {
    signers: ['payer'],
    calls: [
      withdrawFees('mint', 'gold', 'vault gold', 'payer'),
      tokenTransfer('vault gold', 'alice gold', 'payer', 40n)
    ],
    balances: [gold(5n, 45n), account('vault gold', 'vault', 'gold', [0n, 0n])]
  }
  t.strictSame(seenBy('alice', passedOn), ['gold 40 fee - none @1'], 'passed on in the transaction')
})

t.test('tokens minted beside a withdrawal of fees, or a harvest, are a mint', async (t) => {
  const gold = account('alice gold', 'alice', 'gold', [5n, 45n])
  const minted = mintTo('gold', 'alice gold', 'payer', 40n)
  t.strictSame(
    seenBy('alice', {
      signers: ['payer'],
      calls: [withdrawFees('mint', 'gold', 'bob gold', 'payer'), minted],
      balances: [gold, account('bob gold', 'bob', 'gold', [0n, 0n])]
    }),
    ['gold 40 mint - none @1']
  )
  t.strictSame(
    seenBy('alice', {
      signers: ['payer'],
      calls: [harvestFees('gold', 'bob gold'), minted],
      balances: [gold]
    }),
    ['gold 40 mint - none @1']
  )
})

/** Lamports of a wrapped SOL account without tokens. */
const RESERVE = 2_039_280
const wsol = (before: bigint, after: bigint): BalanceSpec => ({
  account: 'alice wsol',
  mint: WSOL,
  owner: 'alice',
  decimals: 9,
  before,
  after
})

t.test(
  'lamports that wait in a wrapped SOL account count once, and their sync is no income of the account',
  async (t) => {
    const sent = {
      signers: ['bob'],
      calls: [lamportTransfer('bob', 'alice wsol', 900n)],
      lamports: { bob: [9000, 3100], 'alice wsol': [RESERVE + 50, RESERVE + 950] }
    } as const
    t.strictSame(seenBy('alice', sent), [], 'the block does not state the owner')
    t.strictSame(seenBy('alice wsol', sent), ['lamports 900 transfer bob exact @0'])
    const synced = {
      signers: ['bob'],
      calls: [syncNative('alice wsol')],
      balances: [wsol(50n, 950n)],
      lamports: { bob: [9000, 4000], 'alice wsol': [RESERVE + 950, RESERVE + 950] }
    } as const
    t.strictSame(seenBy('alice', synced), ['wsol 900 other - none @0'])
    t.strictSame(seenBy('alice wsol', synced), ['wsol 900 unwrap - none @0'])
  }
)
