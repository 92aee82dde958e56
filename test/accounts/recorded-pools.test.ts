import t from 'tap'
import { CLOCK_SYSVAR, SYSVAR_OWNER } from '../../src/accounts/clock.ts'
import type { Account } from '../../src/accounts/ports.ts'
import { TOKEN_PROGRAM_KEYS } from '../../src/accounts/token-program.ts'
import { pubkeyFromBase58, pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import type { VenueId } from '../../src/chain/venue-id.ts'
import { fixtureFiles, testWithFixtures } from '../fixtures.ts'
import { key, tokenAccountData } from './account-data.ts'
import { pool, read, recorded, sides, SOL, stated } from './recorded-pool.ts'

const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
/** Tokens that the test puts into vaults that are not recorded. */
const HELD = 10n ** 15n

const vaultOf = (mint: string, amount = HELD): Account =>
  stated(
    TOKEN_PROGRAM_KEYS['spl-token'],
    tokenAccountData({ mint: pubkeyFromBase58(mint), owner: key(9), amount })
  )

/**
 * Recorded pools: mints, vaults, and the amounts that the vaults owe, in base units. A separate script in another language
 * read them from the bytes. The catalogue of the recordings states mints and vaults of the whirlpool, and the mints of the
 * PumpSwap pools.
 */
const POOLS: readonly (readonly [
  venue: VenueId,
  folder: string,
  file: string,
  mints: readonly [string, string],
  vaults: readonly [string, string],
  owed?: readonly [bigint, bigint]
])[] = [
  [
    'orca-whirlpool',
    'orca-whirlpool',
    'whirlpool',
    [SOL, 'DzkKGBw4njGApBJ4Bd2csCpm4rsdgEmkgivR7XZvENPv'],
    ['6cS7s6TZuQofs1TPYSpZ51qGPQKnrxk6xWhW131MysXh', '25tSGzR5NcRpuoWKzWFTWfMaB1ijiaHP6HkqjxZNH72m']
  ],
  [
    'raydium-clmm',
    'raydium-clmm',
    'pool_state',
    [SOL, '4kzLMxfMZVf6UztzjMcAmyLfBYgFcr9FfpwusrqgEjiH'],
    ['6G5MVC3hqo6oYyucP3F7HK5smyWye84AF8fLExDDMUNL', 'E1NAfa5JAcNdKEzFiU4SkzX5uVi34pNhLdCJCmjA7nN'],
    [7_425_061n + 2_474_997n, 7_407_817_781n + 2_469_272_531n]
  ],
  [
    'pumpswap',
    'pumpswap',
    'pool_211',
    ['Rc3ktd4RvE72ddsdS97VrVko5KN9yQoktfFmF1xpump', SOL],
    ['6sMLqrXH8BwDbD6QWqqJdkZS6PTMWsoxKCX6hLG4mQRe', 'A3WfMbwNa1bVoM5TEhE7Xj9H7zvJYkdAQmcg8ztGnTJr']
  ],
  [
    'pumpswap',
    'pumpswap',
    'pool_270',
    ['3EMheh5MPVWpAGDdXnGBgs6uaukKL29zv65uuXxspump', USDC],
    ['4USMxnBPkU44DarRS9TabfjfxYCcZmsW8PVj9Du7fsC2', 'HrD176Q5JY8Q5gqv7ghsu74EabBbRKz2rD4UcSKDuq15']
  ],
  [
    'pumpswap',
    'pumpswap',
    'pool_301',
    ['A6Zpvj47pSin4YLdUWKRG92x5HGJjtD35sZmJQ6cpump', SOL],
    ['7QtzvM1VFVRJMNVeSPNQ8kMzwpDDkPhEHDsV4VUrxiq5', '7j4nv9cYSye9gbdNtQyMTHNZD54V96BWqYQStaZ8i6xM']
  ],
  [
    'meteora-dlmm',
    'meteora-dlmm',
    'lb_pair',
    ['FzytSxQv6nBgH3dByVJtgMVg6rANTZaZPzU6dcRbpump', SOL],
    ['7SWjpLPaLKxGogCY321XRFbiSiAkXSKh8q8qioGdu8N8', 'iiWfKZygJii3g8RrKyWVQJdc6CciK2xGpuD8aCbgqbS'],
    [317_260_998_460n, 240_423_958n]
  ],
  [
    'meteora-dlmm',
    'meteora-dlmm',
    'lb_pair_7t1sXtcsSJ8Yg8UKgZp7mjv3HQQ9KW5v8FJ9cfU34GT3',
    ['6zgbwgsiQkNP6EXHx7gEXqgKGK4RPpFWvW2HFwi7pump', SOL],
    ['BGeQw7CbY5Px7ud9h2JuCesCxJp1w6Dp2QzymEN79FXj', 'E2FvEpdoc51rBgbsXsJ3KpRrobxdjY1acdTDQe12vKsx']
  ],
  [
    'meteora-dlmm',
    'meteora-dlmm',
    'lb_pair_8KvuP878qiUxsc5P8X6mmjcNU5hzj7LBXbRhDSca5ej9',
    ['EBnaKqUAk6ut1nse3R19CHCfY4jHD5SWdxB1UxyuYsRu', SOL],
    ['3Cq9PyepdsFa4djeHmVkhzwJ3QktXABn32RoYBiHY1Ea', '4sn42YWErUSaq6GMt2PJgPEL1UL84coawrfM5e5RBHqE']
  ],
  [
    'meteora-dlmm',
    'meteora-dlmm',
    'lb_pair_8nXD5VHhcKpehJKLgbMAxQ2myCqbYZiCk77K7J4K1fFz',
    ['GEy7ycaeocLsQWJftjTL6xF1UqmruMBBBh5PqBkXvrSv', 'Xsa62P5mvPszXL1krVUnU5ar38bBSVcWAB6fmPCo5Zu'],
    ['EzAAoZowZgQ3hTruG1gJuMJyC4f7AgoinufAaTEGXz24', '14mCzhN1sP753FEAQp5Y2cXZRZ8W3gzSai8imSoRNDFq'],
    [0n, 92n]
  ],
  [
    'meteora-dlmm',
    'meteora-dlmm',
    '9t3EyC_lb_pair',
    ['BBZU4HYvY4qMGE5MbWsVxGweGBZJqGRsgH8tAEAKusNk', '31iVdsS8fkURXg737XQwYhXVAuGv2vNYHjyDiURStkaU'],
    ['DDVpGjEz7Ay6QSyCJX5FpJhnYYYFUJ5kNdwy3ZrQP9u6', '9LqVUn45rtZqMmNSr7wSpJUy2Qqd6VE5q3QN7t7oJL8v']
  ],
  [
    'meteora-dlmm',
    'meteora-dlmm',
    'B5Eia4_lb_pair',
    ['B4rGSdcBrmLEPUQXpZa91PMsRE3GqNcjLd6EMvM3yaj2', SOL],
    ['HmAJViUS3iMSzuedDs1z4QxAPitnK8oNC6dwAaNrRTBE', '2LAbjR3C5pWMVKh7HUWyEZ6wwubHwHB6B91vu5jaB3mr']
  ],
  [
    'meteora-damm-v2',
    'meteora-damm-v2',
    'pool_28BDU1aghznh8t9Z1imygPU2DrLzw34FC5V9MHYb3HSA',
    ['G95DFf3fjMqvTraw2T5EduHshNsrrNcaEA4QsD1upump', USDC],
    ['F1kEVM8CReUAce1heL5zPPr9QM8E88kzBHx4S4RzYcvs', 'J7YwHhYy4b3jtAY8gYX6Yx28nWyK4WY24RQ7YERHcqik'],
    [0n, 484_908n]
  ],
  [
    'meteora-damm-v2',
    'meteora-damm-v2',
    'pool_2hoh2jW3RLRLRrLagb6aWPL3txRMfWsgNstC4j2cdRhW',
    ['RszpWXeCRFhKg2DV4MeCZYe1WEsZ6M5Wpgr5SyB1nat', SOL],
    ['Gt1wT8DHH3xYbTXjHPnN5afEeX9V6dwnoRMBcQwApqYQ', '6iHffaBRnWGMSHTKevKb4CsvkfeFKyiFra1HmeybyDdi'],
    [0n, 682_731_660n]
  ],
  [
    'meteora-damm-v2',
    'meteora-damm-v2',
    'pool_4EqtnwiCSDJQJvVBrLh7pVdCxmo9rGKd66u4Esmq5Utt',
    ['AoQGnPGXWHo9FfSVhPTmhJGvGXisEDwfaRPnDHHRpump', USDC],
    ['iQLuymHJULfPQPqSdL2UGrsnM8EE9LwXcbt7V25m5pN', '97Rd8vTaWN5EejDdKjeKxSHDjKPsVU3cbAEWTmUnxLeP'],
    [0n, 48_446_692n]
  ],
  [
    'lifinity',
    'lifinity-v2',
    'amm',
    ['7GCihgDB8fe6KNjn2MYtkzZcRjQy3t9GHdC8uHYmW2hr', USDC],
    ['9xNYopD8DTGm2M489XavdnMshBYA81RqJeEPoTUB6sNL', 'HzFLZptVPTGd3bj1fNQXeUbpUxVm6t8f9i1BsuLo41zj']
  ]
]

testWithFixtures(
  t,
  'recorded pools name their mints and vaults, and own what these do not owe',
  async (t) => {
    for (const [venue, folder, file, mints, vaults, owed = [0n, 0n]] of POOLS) {
      const account = recorded(folder).get(file)!
      t.same(read(venue, account).unread, vaults, `${file}: the vaults are asked for`)
      const held = { [vaults[0]]: vaultOf(mints[0]), [vaults[1]]: vaultOf(mints[1]) }
      t.same(
        sides(pool(read(venue, account, held))),
        [0, 1].map((side) => [mints[side], vaults[side], HELD - owed[side]!]),
        file
      )
      const exchanged = { ...held, [vaults[0]]: vaultOf(mints[1]) }
      t.match(read(venue, account, exchanged).state, { reason: 'names a vault of another mint' }, file)
      if (owed[1] > 0n) {
        const short = { ...held, [vaults[1]]: vaultOf(mints[1], owed[1] - 1n) }
        t.match(read(venue, account, short).state, { reason: 'owes more than its vault holds' }, file)
      }
      const foreign = { ...account, owner: key(3) }
      t.match(read(venue, foreign, held).state, { reason: 'is owned by another program' }, file)
      const cut = { ...account, data: account.data.slice(0, 200) }
      t.match(read(venue, cut, held).state, { reason: 'is not a pool of its venue' }, file)
    }
  }
)

testWithFixtures(
  t,
  'a pair recorded with its vaults, of both token programs, has their balances',
  async (t) => {
    const accounts = recorded('meteora-dlmm')
    const state = read('meteora-dlmm', accounts.get('B5Eia4_lb_pair')!, {
      HmAJViUS3iMSzuedDs1z4QxAPitnK8oNC6dwAaNrRTBE: accounts.get('B5Eia4_reserve_x')!,
      '2LAbjR3C5pWMVKh7HUWyEZ6wwubHwHB6B91vu5jaB3mr': accounts.get('B5Eia4_reserve_y')!
    })
    t.same(
      pool(state).sides.map(({ reserve }) => reserve),
      [999994987n, 999_999_984n]
    )
  }
)

testWithFixtures(t, 'a recorded pool of shared vaults owns its part of their unlocked tokens', async (t) => {
  const accounts = Object.fromEntries(recorded('meteora-damm-v1'))
  const clock = new Uint8Array(40)
  new DataView(clock.buffer).setBigInt64(32, 1_719_233_607n, true)
  const withClock = { ...accounts, [pubkeyToBase58(CLOCK_SYSVAR)]: stated(SYSVAR_OWNER, clock) }
  const account = accounts['HcjZvfeSNJbNkfLD4eEcRBr96AD3w1GpmMppaeRZf7ur']!
  t.same(sides(pool(read('meteora-damm-v1', account, withClock))), [
    [SOL, null, 44_337_139_385_268n],
    ['mSoLzYCxHdYgdzU16g5QSh3i5K3z3KZK7ytfqcJm7So', null, 79_794_493_001_643n]
  ])
  t.same(read('meteora-damm-v1', account, accounts).unread, [pubkeyToBase58(CLOCK_SYSVAR)])
})

testWithFixtures(t, 'of all recorded accounts, pools and curves read as such and no others do', async (t) => {
  const CURVES = 7
  const VENUES: Readonly<Record<string, VenueId>> = { 'lifinity-v2': 'lifinity' }
  let count = 0
  for (const folder of new Set(fixtureFiles('accounts').map((path) => path.split('/')[1]!))) {
    const venue = VENUES[folder] ?? (folder as VenueId)
    for (const [file, account] of recorded(folder)) {
      const { state, unread } = read(venue, account)
      const isPool = unread.length > 0 || state.kind === 'pool'
      const isExpected =
        /pool|curve|pair|^whirlpool$|^amm$|HcjZ/.test(file) && !/config|tick|token/.test(file)
      t.equal(isPool, isExpected, `${folder}/${file}`)
      if (isPool) count++
    }
  }
  // One more is the pool of shared vaults.
  t.equal(count, POOLS.length + CURVES + 1)
})
