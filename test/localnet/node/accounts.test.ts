import type { Keypair } from '@solana/web3.js'
import t, { type Test } from 'tap'
import { zstdDecompressSync } from 'node:zlib'
import type { LocalBank } from '../../../src/localnet/bank/bank.ts'
import { funded, land, openBank, produce, wallet } from '../bank/sending.ts'
import { call, result, startNode, type Json } from './node-client.ts'
import type { LocalNode } from '../../../src/localnet/node/local-node.ts'
import { associatedAccount, createAssociated, createMint, mintTo, TOKEN, TOKEN_2022 } from './token-wire.ts'

const SYSTEM = '11111111111111111111111111111111'
const U64_MAX = 18446744073709551615

interface World {
  readonly bank: LocalBank
  readonly node: LocalNode
  readonly payer: Keypair
  readonly mint: string
  readonly account: string
}

/** A node on a chain with a mint of six decimals and 1.5 tokens of it, all finalized. */
async function tokenWorld(t: Test, program = TOKEN): Promise<World> {
  const bank = await openBank()
  const payer = await funded(bank, 1)
  const mint = wallet(2)
  const account = associatedAccount(payer.publicKey, mint.publicKey, program)
  const rent = Number(bank.minimumBalance(82))
  await land(
    bank,
    [
      ...createMint(payer, mint, rent, 6, program),
      createAssociated(payer.publicKey, payer.publicKey, mint.publicKey, program),
      mintTo(mint.publicKey, account, payer.publicKey, 1_500_000n, program)
    ],
    [payer, mint]
  )
  await produce(bank, 40)
  const node = await startNode(t, bank)
  return { bank, node, payer, mint: mint.publicKey.toBase58(), account: account.toBase58() }
}

async function refused(
  t: Test,
  node: LocalNode,
  method: string,
  params: unknown[],
  message: string,
  code = -32602
): Promise<void> {
  t.match(
    (await call(node, method, params)).error,
    { code, message },
    `${method} ${JSON.stringify(params).slice(0, 120)}`
  )
}

t.test('getBalance has lamports with the slot that they are of', async (t) => {
  const bank = await openBank()
  const payer = await funded(bank, 1)
  const node = await startNode(t, bank)
  const key = payer.publicKey.toBase58()
  t.same(await result(node, 'getBalance', [key, { commitment: 'processed' }]), {
    context: { apiVersion: '4.2.1', slot: 1 },
    value: 10_000_000_000
  })
  t.match(await result(node, 'getBalance', [wallet(99).publicKey.toBase58()]), {
    context: { slot: 0 },
    value: 0
  })
  t.match(await result(node, 'getBalance', [key, null]), { value: 0 }, 'it is not finalized yet')
  await produce(bank, 32)
  t.match(await result(node, 'getBalance', [key, null]), { context: { slot: 1 }, value: 10_000_000_000 })
})

t.test('an address, a configuration and a context slot are checked as a node checks them', async (t) => {
  const node = await startNode(t, await openBank())
  const key = wallet(1).publicKey.toBase58()
  const cases: [unknown[], string][] = [
    [[1], 'Invalid params: invalid type: integer `1`, expected a string.'],
    [[{}], 'Invalid params: invalid type: map, expected a string.'],
    [[null], 'Invalid params: invalid type: null, expected a string.'],
    [['x'], 'Invalid param: WrongSize'],
    [['1'.repeat(200)], 'Invalid param: WrongSize'],
    [['0'.repeat(44)], 'Invalid param: Invalid'],
    [[key, 'x'], 'Invalid params: invalid type: string "x", expected struct RpcContextConfig.'],
    [[key, { minContextSlot: -1 }], 'Invalid params: invalid value: integer `-1`, expected u64.'],
    [[key, { minContextSlot: 'x' }], 'Invalid params: invalid type: string "x", expected u64.'],
    [[key, { minContextSlot: 1.5 }], 'Invalid params: invalid type: floating point `1.5`, expected u64.'],
    [[key, {}, 1], 'Invalid parameters: Expected from 1 to 2 parameters.']
  ]
  for (const [params, message] of cases) await refused(t, node, 'getBalance', params, message)
  const { error } = await call(node, 'getBalance', [key, { minContextSlot: 10 }])
  t.same(error, {
    code: -32016,
    message: 'Minimum context slot has not been reached',
    data: { contextSlot: 0 }
  })
  for (const config of [{ commitment: 'x' }, { commitment: 'recent' }, { foo: 1 }]) {
    t.match(await result(node, 'getBalance', [key, config]), { value: 0 }, 'unknown words count as none')
  }
})

t.test('an account is written in each encoding, whole or in part', async (t) => {
  const { node, account, mint } = await tokenWorld(t)
  const ask = async (config?: object): Promise<Json> =>
    (await result(node, 'getAccountInfo', [mint, config ?? null])).value!
  const { data, ...rest } = (await ask({ encoding: 'base64' })) as unknown as { data: [string, string] }
  t.same(rest, {
    lamports: 1461600,
    owner: TOKEN.toBase58(),
    executable: false,
    rentEpoch: U64_MAX,
    space: 82
  })
  const bytes = Buffer.from(data[0], 'base64')
  t.equal(bytes.length, 82)
  t.equal(data[1], 'base64')
  t.equal(bytes.readBigUInt64LE(36), 1_500_000n)
  t.match(await ask(), { data: /^[1-9A-HJ-NP-Za-km-z]+$/ }, 'base58 without a name where none is asked for')
  t.match(await ask({ encoding: 'base58' }), { data: [/^[1-9A-HJ-NP-Za-km-z]+$/, 'base58'] })
  const zipped = (await ask({ encoding: 'base64+zstd' })) as unknown as { data: [string, string] }
  t.equal(zipped.data[1], 'base64+zstd')
  t.same(zstdDecompressSync(Buffer.from(zipped.data[0], 'base64')), bytes)
  t.match(await ask({ encoding: 'base64', dataSlice: { offset: 36, length: 8 } }), {
    data: [bytes.subarray(36, 44).toString('base64'), 'base64'],
    space: 82
  })
  t.match(await ask({ encoding: 'base64', dataSlice: { offset: 1e9, length: 8 } }), { data: ['', 'base64'] })
  await refused(
    t,
    node,
    'getAccountInfo',
    [account],
    'Encoded binary (base 58) data should be less than 128 bytes, please use Base64 encoding.',
    -32600
  )
  t.match(await result(node, 'getAccountInfo', [account, { dataSlice: { offset: 0, length: 128 } }]), {
    value: { data: String }
  })
  await refused(
    t,
    node,
    'getAccountInfo',
    [mint, { encoding: 'foo' }],
    'Invalid params: unknown variant `foo`, expected one of `binary`, `base58`, `base64`, `jsonParsed`, `base64+zstd`.'
  )
  await refused(
    t,
    node,
    'getAccountInfo',
    [mint, { dataSlice: {} }],
    'Invalid params: missing field `offset`.'
  )
})

t.test('mints and token accounts are parsed, and what cannot be is base64', async (t) => {
  const { node, payer, account, mint } = await tokenWorld(t)
  const parsed = { encoding: 'jsonParsed' }
  const owner = payer.publicKey.toBase58()
  const value = async (key: string): Promise<Json> =>
    (await result(node, 'getAccountInfo', [key, parsed])).value!
  t.match(await value(mint), {
    data: {
      program: 'spl-token',
      space: 82,
      parsed: {
        type: 'mint',
        info: {
          mintAuthority: owner,
          supply: '1500000',
          decimals: 6,
          isInitialized: true,
          freezeAuthority: null
        }
      }
    }
  })
  t.match(await value(account), {
    data: {
      program: 'spl-token',
      space: 165,
      parsed: {
        type: 'account',
        info: {
          mint,
          owner,
          state: 'initialized',
          isNative: false,
          tokenAmount: { amount: '1500000', decimals: 6, uiAmount: 1.5, uiAmountString: '1.5' }
        }
      }
    }
  })
  t.match(await value(owner), { owner: SYSTEM, data: ['', 'base64'] })
})

t.test('accounts of Token-2022 name their extensions', async (t) => {
  const { node, account } = await tokenWorld(t, TOKEN_2022)
  t.match(await result(node, 'getAccountInfo', [account, { encoding: 'jsonParsed' }]), {
    value: {
      space: 170,
      data: { program: 'spl-token-2022', parsed: { info: { extensions: [{ extension: 'immutableOwner' }] } } }
    }
  })
})

t.test('getMultipleAccounts answers in order, null where there is none, and up to 100', async (t) => {
  const { node, account, mint } = await tokenWorld(t)
  const none = wallet(99).publicKey.toBase58()
  const { value } = (await result(node, 'getMultipleAccounts', [[mint, none, account]])) as unknown as {
    value: Json[]
  }
  t.match(value, [{ space: 82 }, null, { space: 165 }])
  t.same(await result(node, 'getMultipleAccounts', [[]]).then(({ value }) => value), [])
  await refused(t, node, 'getMultipleAccounts', [Array(101).fill(mint)], 'Too many inputs provided; max 100')
  await refused(t, node, 'getMultipleAccounts', [['x']], 'Invalid param: WrongSize')
  await refused(
    t,
    node,
    'getMultipleAccounts',
    ['x'],
    'Invalid params: invalid type: string "x", expected a sequence.'
  )
})

t.test('getProgramAccounts filters by size, by bytes and by state, with or without context', async (t) => {
  const { node, account, mint, payer } = await tokenWorld(t)
  const keys = async (filters?: unknown[]): Promise<string[]> => {
    const config = { encoding: 'base64', ...(filters === undefined ? {} : { filters }) }
    const found = (await result(node, 'getProgramAccounts', [TOKEN.toBase58(), config])) as unknown as {
      pubkey: string
    }[]
    return found.map(({ pubkey }) => pubkey).filter((key) => key === mint || key === account)
  }
  t.same((await keys()).sort(), [mint, account].sort())
  t.same(await keys([{ dataSize: 82 }]), [mint])
  t.same(await keys(['tokenAccountState']), [account])
  const owner = payer.publicKey
  t.same(await keys([{ dataSize: 165 }, { memcmp: { offset: 32, bytes: owner.toBase58() } }]), [account])
  t.same(
    await keys([{ memcmp: { offset: 32, bytes: owner.toBuffer().toString('base64'), encoding: 'base64' } }]),
    [account]
  )
  t.same(await keys([{ memcmp: { offset: 32, bytes: [...owner.toBytes()] } }]), [account])
  t.same(await keys([{ memcmp: { offset: 200, bytes: owner.toBase58() } }]), [])
  t.match(await result(node, 'getProgramAccounts', [wallet(9).publicKey.toBase58(), { withContext: true }]), {
    context: { slot: Number },
    value: []
  })
  const program = TOKEN.toBase58()
  const cases: [unknown, string][] = [
    [Array(5).fill({ dataSize: 1 }), 'Too many filters provided; max 4'],
    [
      [{ foo: 1 }],
      'Invalid params: unknown variant `foo`, expected one of `dataSize`, `memcmp`, `tokenAccountState`.'
    ],
    [[{ dataSize: 'x' }], 'Invalid params: invalid type: string "x", expected u64.'],
    [
      [{ memcmp: { offset: 0, bytes: '0' } }],
      "Invalid param: Base58DecodeError(InvalidCharacter { character: '0', index: 0 })"
    ],
    [[{ memcmp: { offset: 0, bytes: '1'.repeat(300) } }], 'Invalid param: DataTooLarge'],
    [
      [{ memcmp: { offset: 0, bytes: '!!', encoding: 'base64' } }],
      'Invalid param: Base64DecodeError(InvalidByte(0, 33))'
    ]
  ]
  for (const [filters, message] of cases)
    await refused(t, node, 'getProgramAccounts', [program, { filters }], message)
})

t.test('getTokenAccountsByOwner finds accounts by mint or by program', async (t) => {
  const { node, payer, mint, account } = await tokenWorld(t)
  const owner = payer.publicKey.toBase58()
  for (const filter of [{ mint }, { programId: TOKEN.toBase58() }]) {
    t.match(await result(node, 'getTokenAccountsByOwner', [owner, filter, { encoding: 'jsonParsed' }]), {
      value: [{ pubkey: account, account: { data: { parsed: { info: { mint, owner } } } } }]
    })
  }
  t.match(await result(node, 'getTokenAccountsByOwner', [mint, { mint }, { encoding: 'base64' }]), {
    value: []
  })
  const cases: [unknown, string][] = [
    [{ mint: wallet(50).publicKey.toBase58() }, 'Invalid param: could not find mint'],
    [{ mint: owner }, 'Invalid param: not a Token mint'],
    [{ programId: SYSTEM }, 'Invalid param: unrecognized Token program id'],
    [{}, 'Invalid params: invalid value: map, expected map with a single key.'],
    [{ foo: 1 }, 'Invalid params: unknown variant `foo`, expected `mint` or `programId`.'],
    [{ mint: 'x' }, 'Invalid param: WrongSize']
  ]
  for (const [filter, message] of cases)
    await refused(t, node, 'getTokenAccountsByOwner', [owner, filter], message)
})

t.test('token balances and supplies have their decimals', async (t) => {
  const { node, payer, mint, account } = await tokenWorld(t)
  const amount = { amount: '1500000', decimals: 6, uiAmount: 1.5, uiAmountString: '1.5' }
  t.match(await result(node, 'getTokenAccountBalance', [account]), {
    context: { slot: Number },
    value: amount
  })
  t.match(await result(node, 'getTokenSupply', [mint, { commitment: 'confirmed' }]), { value: amount })
  const none = wallet(99).publicKey.toBase58()
  const owner = payer.publicKey.toBase58()
  await refused(t, node, 'getTokenAccountBalance', [none], 'Invalid param: could not find account')
  await refused(t, node, 'getTokenAccountBalance', [owner], 'Invalid param: not a Token account')
  await refused(t, node, 'getTokenAccountBalance', [mint], 'Invalid param: not a Token account')
  await refused(t, node, 'getTokenSupply', [none], 'Invalid param: could not find account')
  await refused(t, node, 'getTokenSupply', [owner], 'Invalid param: not a Token mint')
  await refused(t, node, 'getTokenSupply', [account], 'Invalid param: mint could not be unpacked')
  await refused(t, node, 'getTokenSupply', [mint, {}], 'Invalid params: missing field `commitment`.')
  await refused(
    t,
    node,
    'getTokenSupply',
    [mint, { commitment: 'x' }],
    'Invalid params: unknown variant `x`, expected one of `processed`, `confirmed`, `finalized`.'
  )
})

t.test('the least balance follows from the length of data', async (t) => {
  const node = await startNode(t, await openBank())
  t.equal(await result(node, 'getMinimumBalanceForRentExemption', [0]), 890_880)
  t.equal(
    await result(node, 'getMinimumBalanceForRentExemption', [165, { commitment: 'processed' }]),
    2_039_280
  )
  await refused(t, node, 'getMinimumBalanceForRentExemption', [1e9], 'Invalid request', -32600)
  await refused(
    t,
    node,
    'getMinimumBalanceForRentExemption',
    ['x'],
    'Invalid params: invalid type: string "x", expected usize.'
  )
})
