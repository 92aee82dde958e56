import t from 'tap'
import { encodeBase58 } from '../../../src/chain/base58.ts'
import { MintDirectory } from '../../../src/accounts/mint-directory.ts'
import { PoolDirectory } from '../../../src/accounts/pools/pool-directory.ts'
import { RpcAccountNode } from '../../../src/accounts/node-client.ts'
import { openLocalnet } from '../../../src/localnet/localnet.ts'
import { systemPorts } from '../../../src/ports.ts'
import { marketApp } from '../../http/market-app.ts'
import { slotClock } from '../bank/lived-chain.ts'

const PROGRAMS = {
  'spl-token': 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  'token-2022': 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'
} as const
const LAST_SLOT = 45
const AT_ONCE = 100
const WALLETS = 30

interface RawAccount {
  readonly program: keyof typeof PROGRAMS
  readonly pubkey: string
  readonly lamports: number
  readonly data: Buffer
}

/**
 * Requests all accounts of a token program as bytes from the node. Their layouts are read below, independently of the
 * service.
 */
async function accountsOf(url: string, program: keyof typeof PROGRAMS): Promise<RawAccount[]> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ jsonrpc: '2.0', id: 1, method: 'getProgramAccounts' },
      params: [PROGRAMS[program], { encoding: 'base64', commitment: 'confirmed' }]
    })
  })
  const { result } = (await response.json()) as {
    readonly result: readonly {
      readonly pubkey: string
      readonly account: { readonly lamports: number; readonly data: readonly [string, string] }
    }[]
  }
  return result.map(({ pubkey, account }) => ({
    ...{ program, pubkey, lamports: account.lamports },
    data: Buffer.from(account.data[0], 'base64')
  }))
}

const keyAt = (data: Buffer, at: number): string => encodeBase58(data.subarray(at, at + 32))
const optionalKey = (data: Buffer, at: number): string | null =>
  data.readUInt32LE(at) === 0 ? null : keyAt(data, at + 4)
/** In Token-2022 the byte after the longest base distinguishes a mint with extensions from an account. */
const isMint = ({ data }: RawAccount): boolean => data.length === 82 || (data.length > 165 && data[165] === 1)

/** Returns an amount with its decimals applied: the number next to its decimal text. */
function human(raw: bigint, decimals: number): number {
  const digits = raw.toString().padStart(decimals + 1, '0')
  return Number(`${digits.slice(0, digits.length - decimals)}.${digits.slice(digits.length - decimals)}`)
}

const mintAnswer = ({ program, pubkey, data }: RawAccount, slot: number): object => ({
  mint: pubkey,
  mint_authority: optionalKey(data, 0),
  supply_raw: data.readBigUInt64LE(36).toString(),
  supply: human(data.readBigUInt64LE(36), data.readUInt8(44)),
  decimals: data.readUInt8(44),
  freeze_authority: optionalKey(data, 46),
  token_program: program,
  extensions: [],
  transfer_fee: null,
  slot
})

const tokenAccountAnswer = (
  { program, pubkey, lamports, data }: RawAccount,
  decimals: ReadonlyMap<string, number>
): { readonly pubkey: string; readonly [field: string]: unknown } => ({
  pubkey,
  mint: keyAt(data, 0),
  owner: keyAt(data, 32),
  amount: human(data.readBigUInt64LE(64), decimals.get(keyAt(data, 0))!),
  amount_raw: data.readBigUInt64LE(64).toString(),
  decimals: decimals.get(keyAt(data, 0))!,
  state: ['uninitialized', 'initialized', 'frozen'][data.readUInt8(108)],
  delegate: optionalKey(data, 72),
  delegated_amount_raw: data.readBigUInt64LE(121).toString(),
  close_authority: optionalKey(data, 129),
  is_native: data.readUInt32LE(109) === 1,
  rent_exempt_reserve: data.readUInt32LE(109) === 0 ? null : data.readBigUInt64LE(113).toString(),
  program,
  lamports: String(lamports)
})

t.test(
  'metadata of every mint of a localnet, and token accounts of wallets, equal the bytes of its accounts',
  async (t) => {
    const clock = slotClock()
    const net = await openLocalnet({
      ...{ directory: t.testdir({ net: {} }) + '/net', host: '127.0.0.1', port: 0, seed: 'account answers' },
      ...{ past: 'none', market: 'busy', clock, onFault: (fault) => t.fail(String(fault)) }
    })
    t.teardown(() => net.close())
    for (let slot = net.bank.slot('processed') + 1; slot <= LAST_SLOT; slot++) {
      clock.setSlot(slot)
      await net.bank.produceSlot()
    }
    const programs = Object.keys(PROGRAMS) as (keyof typeof PROGRAMS)[]
    const slot = net.bank.slot('confirmed')
    // The service requests accounts at confirmed.
    const accounts = (await Promise.all(programs.map((program) => accountsOf(net.rpcUrl, program)))).flat()
    const mints = accounts.filter(isMint)
    const node = new RpcAccountNode(() => [net.rpcUrl], systemPorts.clock)
    const options = { node, clock: systemPorts.clock, bytesMax: 2 ** 24 }
    const [directory, pools] = [new MintDirectory(options), new PoolDirectory(options)]
    t.teardown(() => {
      directory.close()
      pools.close()
    })
    t.teardown(() => node.close())
    const app = await marketApp(t, undefined, {
      accounts: { node, mints: directory, pools, offChain: null, images: null }
    })

    t.ok(mints.length > 20, `${mints.length} mints`)
    for (let at = 0; at < mints.length; at += AT_ONCE) {
      const asked = mints.slice(at, at + AT_ONCE)
      const { status, body } = await app.get(
        `/v1/metadata?mints=${asked.map(({ pubkey }) => pubkey).join(',')}`
      )
      t.equal(status, 200)
      t.same(body['missing'], [])
      for (const [index, mint] of asked.entries()) t.match(body.data[index], mintAnswer(mint, slot))
    }

    const decimals = new Map(mints.map(({ pubkey, data }) => [pubkey, data.readUInt8(44)]))
    const byOwner = Map.groupBy(
      accounts.filter((account) => !isMint(account) && account.data.length >= 165),
      ({ data }) => keyAt(data, 32)
    )
    // Those with the most accounts, and some with one.
    const owners = [...byOwner].sort(([, a], [, b]) => b.length - a.length)
    const chosen = [...owners.slice(0, WALLETS / 2), ...owners.slice(-WALLETS / 2)]
    let compared = 0
    for (const [owner, held] of chosen) {
      const { status, body, text } = await app.get(`/v1/wallets/${owner}/token-accounts?include_zero=true`)
      t.equal(status, 200, text)
      const expected = held
        .map((account) => tokenAccountAnswer(account, decimals))
        .toSorted((a, b) => (a.pubkey < b.pubkey ? -1 : 1))
      t.match(body, { wallet: owner, slot })
      t.strictSame(
        body.data.map(({ pubkey }) => pubkey),
        expected.map(({ pubkey }) => pubkey)
      )
      for (const [index, each] of expected.entries()) t.match(body.data[index], each)
      compared += expected.length
    }
    t.ok(compared > 100, `${compared} token accounts`)
  }
)
