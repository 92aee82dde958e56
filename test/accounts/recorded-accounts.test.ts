import { basename } from 'node:path'
import t from 'tap'
import { metaplexAddress, readMetaplex } from '../../src/accounts/metaplex.ts'
import { readMintAccount, type MintAccount } from '../../src/accounts/mint-account.ts'
import type { EmbeddedNames } from '../../src/accounts/token-metadata.ts'
import { readTokenAccount, type TokenAccount } from '../../src/accounts/token-account.ts'
import { transferFeeAt } from '../../src/accounts/transfer-fee.ts'
import { pubkeyFromBase58, pubkeyToBase58, type Pubkey } from '../../src/chain/pubkey.ts'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../src/chain/token-movement.ts'
import { fixtureAccounts, fixtureFiles, testWithFixtures, type FixtureAccount } from '../fixtures.ts'

const text = (key: Pubkey | null): string | null => (key === null ? null : pubkeyToBase58(key))
const nameOf = ({ path }: FixtureAccount): string => basename(path, '.json')
const stateOf = ({ owner, data }: FixtureAccount) => ({ owner: pubkeyFromBase58(owner), data })

/** The recorded accounts of a folder by their address. */
const recorded = (folder: string): ReadonlyMap<string, FixtureAccount> =>
  new Map(fixtureAccounts(folder).map((each) => [nameOf(each), each]))

const JUPITER = '5nmGjA4s7ATzpBQXC5RNceRpaJ7pYw2wKsNBWyuSAZV6'
const PAXOS = '2apBGMsS6ti9RyF5TwQTDswXBWskiJP2LD4cUEDqYJjk'
const PAXOS_EXTENSIONS = [
  'mint_close_authority',
  'permanent_delegate',
  'transfer_fee_config',
  'confidential_transfer_mint',
  'confidential_transfer_fee_config',
  'transfer_hook',
  'metadata_pointer',
  'token_metadata'
]
const FEE_AND_NAMES = ['transfer_fee_config', 'metadata_pointer', 'token_metadata']

/**
 * Values of the recorded mints: mint authority, freeze authority, supply, decimals, extensions. A separate script in another
 * language read them from the bytes.
 */
const MINTS: readonly [
  folder: string,
  mint: string,
  ...values: [string | null, string | null, bigint, number, string[]]
][] = [
  ['spl-token', '9BEcn9aPEmhSPbPQeFGjidRiEKki46fVQDyPpSQXPA2D', JUPITER, null, 486_875_123_485_957n, 6, []],
  [
    'spl-token',
    'J1toso1uCk3RLmjorhTtrVwY9HJ7X8V9yYac6Y7kGCPn',
    '6iQKfEyhr3bZMotVkW6beNZz5CPAkiwvgV2CTje9pVSS',
    null,
    9_022_713_135_473_054n,
    9,
    []
  ],
  [
    'token-2022',
    '2b1kV6DkPAnxd5ixfnxCpjxmKwqjjaYmCZfHsFu24GXo',
    '8Jornc27vtAYPkwDzsZVgLQchAYyC8nD7aCNPCDV8Qk2',
    PAXOS,
    705_894_641_526_469n,
    6,
    PAXOS_EXTENSIONS
  ],
  [
    'token-2022',
    '2u1tszSeqZ3qBWF3uNGPFc8TzMk2tdiwknnRMWGWjGWH',
    '3YJL8sesK3ooPpJddypvFUhCvnvaQ1oF8This4J3bhxR',
    PAXOS,
    921_569_274_500_267n,
    6,
    PAXOS_EXTENSIONS
  ],
  [
    'token-2022',
    '7atgF8KQo4wJrD5ATGX7t1V2zVvykPJbFfNeVf1icFv1',
    null,
    null,
    99_992_304_138_149_034n,
    2,
    ['transfer_fee_config']
  ],
  ['token-2022', '9fvHrYNw1A8Evpcj7X2yy4k4fT7nNHcA9L6UsamNHAif', JUPITER, null, 50_416_821_302_461n, 6, []],
  [
    'token-2022',
    'J5tzd1ww1V1qrgDUQHVCGqpmpbnEnjzGs9LAqJxwkNde',
    null,
    null,
    379_678_503_383_143n,
    6,
    FEE_AND_NAMES
  ],
  [
    'token-2022',
    'znv3FZt2HFAvzYf5LxzVyryh3mBXWuTRRng25gEZAjh',
    null,
    null,
    991_622_730_520_864n,
    6,
    FEE_AND_NAMES
  ]
]

/** Fees: config authority, withdraw authority, withheld, and epoch, maximum and basis points of the older and newer one. */
const FEES: Readonly<Record<string, readonly unknown[]>> = {
  '2b1kV6DkPAnxd5ixfnxCpjxmKwqjjaYmCZfHsFu24GXo': [PAXOS, PAXOS, 0n, [605n, 0n, 0], [605n, 0n, 0]],
  '2u1tszSeqZ3qBWF3uNGPFc8TzMk2tdiwknnRMWGWjGWH': [PAXOS, PAXOS, 0n, [722n, 0n, 0], [722n, 0n, 0]],
  '7atgF8KQo4wJrD5ATGX7t1V2zVvykPJbFfNeVf1icFv1': [
    null,
    null,
    47_516_950_695_610_627n,
    [551n, 99_999_999_999_999_904n, 400],
    [551n, 99_999_999_999_999_904n, 400]
  ],
  J5tzd1ww1V1qrgDUQHVCGqpmpbnEnjzGs9LAqJxwkNde: [
    null,
    '9WxVnXheqed8MXAao8athYh1bkgo1SQXfXtseFTp5sUY',
    105_820_661_125n,
    [619n, 500_000_000_000_000n, 200],
    [619n, 500_000_000_000_000n, 200]
  ],
  znv3FZt2HFAvzYf5LxzVyryh3mBXWuTRRng25gEZAjh: [
    null,
    'HeVWP1sveJLqfpL3sF5E5FULQrBiNbYWbEFYCCd3YV5P',
    2_620_768_627_294n,
    [744n, 1_000_000_000_000_000n, 500],
    [744n, 1_000_000_000_000_000n, 500]
  ]
}

/** Names inside mints, with the authority of the pointer and the update authority. */
const NAMES: Readonly<Record<string, readonly unknown[]>> = {
  '2b1kV6DkPAnxd5ixfnxCpjxmKwqjjaYmCZfHsFu24GXo': [
    'PayPal USD',
    'PYUSD',
    'https://token-metadata.paxos.com/pyusd_metadata/prod/solana/pyusd_metadata.json',
    PAXOS,
    PAXOS
  ],
  '2u1tszSeqZ3qBWF3uNGPFc8TzMk2tdiwknnRMWGWjGWH': [
    'Global Dollar',
    'USDG',
    'https://token-metadata.paxos.com/usdg_metadata/prod/solana/usdg_metadata.json',
    PAXOS,
    PAXOS
  ],
  J5tzd1ww1V1qrgDUQHVCGqpmpbnEnjzGs9LAqJxwkNde: [
    'FREE ROSS NOW',
    'FRN',
    'https://bafkreihlfhyzo5vx5qhlw36beyphnd525ctlt4sdslb62wkxc2vuajn6ee.ipfs.nftstorage.link',
    '9WxVnXheqed8MXAao8athYh1bkgo1SQXfXtseFTp5sUY',
    null
  ],
  znv3FZt2HFAvzYf5LxzVyryh3mBXWuTRRng25gEZAjh: [
    'Infinite Money Glitch',
    'IMG',
    'https://i.degencdn.com/ipfs/bafkreidh5jnc7d7rqqnzyh5wvbprki4kmsyw7vg7xo5g4np72lcyxpvzjy',
    '6rCzKkKyYUTEX4cw3yBS9ShLYrvPUoo9Hb67wfkhB1Wc',
    null
  ]
}

testWithFixtures(t, 'recorded mints read as their bytes say', async (t) => {
  for (const [folder, address, mintAuthority, freezeAuthority, supply, decimals, extensions] of MINTS) {
    const mint = readMintAccount(stateOf(recorded(folder).get(address)!)) as MintAccount
    t.same(
      {
        ...mint,
        mintAuthority: text(mint.mintAuthority),
        freezeAuthority: text(mint.freezeAuthority),
        features: null
      },
      {
        kind: 'mint',
        tokenProgram: folder,
        supply,
        decimals,
        mintAuthority,
        freezeAuthority,
        extensions,
        features: null
      },
      address
    )
    const { transferFee, names, metadataPointer, ...others } = mint.features
    const isPaxos = PAXOS_EXTENSIONS === extensions
    t.same(
      {
        ...others,
        permanentDelegate: text(others.permanentDelegate),
        closeAuthority: text(others.closeAuthority),
        transferHook: others.transferHook && text(others.transferHook.authority)
      },
      {
        permanentDelegate: isPaxos ? PAXOS : null,
        closeAuthority: isPaxos ? PAXOS : null,
        transferHook: isPaxos ? PAXOS : null,
        defaultAccountState: null,
        paused: null,
        scale: null
      },
      `${address}: what its extensions say`
    )
    const fee = transferFee && [
      text(transferFee.configAuthority),
      text(transferFee.withdrawAuthority),
      transferFee.withheld,
      ...[transferFee.older, transferFee.newer].map((each) => [each.epoch, each.maximum, each.basisPoints])
    ]
    t.same(fee, FEES[address] ?? null, `${address}: transfer fee`)
    const stated = names && [
      names.name,
      names.symbol,
      names.uri,
      text(metadataPointer!.authority),
      text(names.updateAuthority)
    ]
    t.same(stated, NAMES[address] ?? null, `${address}: names`)
    if (names !== null) {
      t.equal(text(names.mint), address)
      t.equal(text(metadataPointer!.address), address)
      t.equal(names.isMutable, names.updateAuthority !== null)
    }
  }
})

const OWNER = '7pFGok3zuvacRP797Ke3bUZqbq24PbVQNLvwopfErvih'
const ROTKI = 'FkzRQKW8Mzip4xXHamibLZB28sjqN9ZLFacQdbuVEYxa'
/** Recorded token accounts: mint, owner, amount, extensions. All are initialized, without delegate. */
const ACCOUNTS: readonly [folder: string, address: string, mint: string, owner: string, bigint, string[]][] =
  [
    [
      'spl-token',
      '4frtd36KHAsP5PdeMTVXwHgczbgWKQrxgf1MuUz94muz',
      'METvsvVRapdj9cFLzq4Tr43xK4tAjQfwX76z3n6mWQL',
      ROTKI,
      974_674n,
      []
    ],
    [
      'spl-token',
      'SmjjdvFPCLcCnUzzRGKDW3ECMVyyXwQuLSmueCrAEX5',
      'J1toso1uCk3RLmjorhTtrVwY9HJ7X8V9yYac6Y7kGCPn',
      ROTKI,
      403_130_203n,
      []
    ],
    [
      'token-2022',
      '6WFzSmenHeLEh4u6ibFsZ1k7NJioNJrK1LamJrqfBpCG',
      '2u1tszSeqZ3qBWF3uNGPFc8TzMk2tdiwknnRMWGWjGWH',
      '5DxRG8hTcBfeCL7pz7NVMZSeqrQAiDJ5pv5RR9pM84ey',
      0n,
      ['immutable_owner', 'transfer_fee_amount', 'transfer_hook_account']
    ],
    [
      'token-2022',
      '7S8hqNQjJxiEvvbZykYbouTshH1r3YQzD8XYxPVEjb9M',
      '992pAUEdam3KLsmbv1fru8VisYtgEKZt3a9drKEXVxxk',
      OWNER,
      0n,
      ['immutable_owner', 'transfer_fee_amount']
    ],
    [
      'token-2022',
      '9BDuBhQZEZBGeGAPkrDz6H2Hir118SqAPNe1BAqA99Mf',
      '2b1kV6DkPAnxd5ixfnxCpjxmKwqjjaYmCZfHsFu24GXo',
      ROTKI,
      338_918n,
      ['immutable_owner', 'transfer_fee_amount', 'transfer_hook_account']
    ],
    [
      'token-2022',
      'GYEQN7fjvoL7ALwevZQPTMzYwbqwugTzJ3GVRV7NyQU9',
      '7atgF8KQo4wJrD5ATGX7t1V2zVvykPJbFfNeVf1icFv1',
      OWNER,
      11n,
      ['immutable_owner', 'transfer_fee_amount']
    ],
    [
      'token-2022',
      'GfUNXYMtgYWyAsYrYNHpQ72hpZQDxDiiEoYEvJBHWGrg',
      'pumpCmXqMfrsAkQ5r49WcJnRayYRqmXz6ae8H7H9Dfn',
      OWNER,
      0n,
      ['immutable_owner', 'transfer_hook_account']
    ]
  ]

testWithFixtures(t, 'recorded token accounts read as their bytes say', async (t) => {
  for (const [folder, address, mint, owner, amount, extensions] of ACCOUNTS) {
    const account = readTokenAccount(stateOf(recorded(folder).get(address)!)) as TokenAccount
    t.same(
      { ...account, mint: text(account.mint), owner: text(account.owner) },
      {
        kind: 'token-account',
        tokenProgram: folder,
        mint,
        owner,
        amount,
        state: 'initialized',
        delegate: null,
        delegatedAmount: 0n,
        closeAuthority: null,
        nativeReserve: null,
        extensions,
        withheld: extensions.includes('transfer_fee_amount') ? 0n : null
      },
      address
    )
  }
})

/** Recorded metadata accounts of Metaplex: mint, update authority, name, symbol, uri. All are mutable. */
const METADATA: readonly [address: string, ...values: string[]][] = [
  [
    '7Ny5TgfeCFgWoz9sUA6bX43XoFGw3kA6KZMEthRYEAnX',
    '7nYWoWcvupvV8ESCvxfnvWkJBxJKkWp1c3dHHiJD83oy',
    '4Pgx2M7ZsDRvXU4CitoT94EJUohxqSk3eBuLsoz834dm',
    'jupiter vault 28',
    'jv28',
    'https://cdn.instadapp.io/solana/vaults/metadata/28.json'
  ],
  [
    '8RnR7sf2K7dPcu1MZWBQLY7ZTpDQsYK7XQp62N54KrAY',
    '9BEcn9aPEmhSPbPQeFGjidRiEKki46fVQDyPpSQXPA2D',
    JUPITER,
    'jupiter lend USDC',
    'jlUSDC',
    'https://cdn.instadapp.io/solana/tokens/metadata/usdc.json'
  ],
  [
    '8yn5oqFMwYA8SgGqWwKq1Hia8aM5gh1DWmHEL34hMqBX',
    'J1toso1uCk3RLmjorhTtrVwY9HJ7X8V9yYac6Y7kGCPn',
    'EDGARWktv3nDxRYjufjdbZmryqGXceaFPoPpbUzdpqED',
    'Jito Staked SOL',
    'JitoSOL',
    'https://storage.googleapis.com/token-metadata/JitoSOL.json'
  ],
  [
    'DqqUY2u3jZ3ay8aNUbtTu63NPBVtyGsVVUEr45WP1i2h',
    '7vfCXTUXx5WJV5JADk17DUJ4ksgau7utNKj4b963voxs',
    'BCD75RNBHrJJpW4dXVagL5mPjzRLnVZq4YirJdjEYMV7',
    'Wrapped Ether (Wormhole)',
    'WETH',
    ''
  ]
]

testWithFixtures(
  t,
  'recorded metadata of Metaplex stands at the derived address, and has no padding',
  async (t) => {
    for (const [address, mint, updateAuthority, name, symbol, uri] of METADATA) {
      const names = readMetaplex(stateOf(recorded('mpl-token-metadata').get(address)!)) as EmbeddedNames
      t.same(
        [text(names.mint), text(names.updateAuthority), names.name, names.symbol, names.uri],
        [mint, updateAuthority, name, symbol, uri]
      )
      t.equal(names.isMutable, true)
      t.equal(text(metaplexAddress(names.mint)), address)
    }
  }
)

testWithFixtures(t, 'of all recorded accounts, those of the token programs and no others read', async (t) => {
  const folders = new Set(fixtureFiles('accounts').map((path) => path.split('/')[1]!))
  const accounts = [...folders].flatMap((folder) => fixtureAccounts(folder))
  t.equal(accounts.length, 98)
  let read = 0
  for (const account of accounts) {
    const isToken = [TOKEN_PROGRAM, TOKEN_2022_PROGRAM].includes(account.owner)
    const kinds = [readMintAccount(stateOf(account)).kind, readTokenAccount(stateOf(account)).kind]
    t.equal(kinds.filter((kind) => kind !== 'refused').length, isToken ? 1 : 0, account.path)
    if (isToken) read++
  }
  t.ok(read >= MINTS.length + ACCOUNTS.length, `${read} are of a token program`)
})

testWithFixtures(t, 'a transfer fee is that of the epoch', async (t) => {
  const fixture = recorded('token-2022').get('znv3FZt2HFAvzYf5LxzVyryh3mBXWuTRRng25gEZAjh')!
  const { transferFee } = (readMintAccount(stateOf(fixture)) as MintAccount).features
  const changing = { ...transferFee!, newer: { epoch: 800n, maximum: 7n, basisPoints: 1 } }
  t.same(
    [0n, 799n, 800n, 801n].map((epoch) => transferFeeAt(changing, epoch).basisPoints),
    [500, 500, 1, 1]
  )
})
