import { decodeBase58 } from '../../src/chain/base58.ts'
import { pubkeyFromBase58, pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import type { Account, AddressedAccount, ProgramAccountsQuery } from '../../src/accounts/ports.ts'
import type { FakeRpcNode } from '../rpc/fake-rpc-node.ts'
import type { FakeAccountNode } from './fake-account-node.ts'

interface Config {
  readonly programId?: string
  readonly filters?: readonly {
    readonly dataSize?: number
    readonly memcmp?: { readonly offset: number; readonly bytes: string }
  }[]
  readonly dataSlice?: ProgramAccountsQuery['dataSlice']
}

/** Lets a node answer requests for accounts by JSON-RPC with those that a test puts at a fake one. */
export function answerAccounts(node: FakeRpcNode, accounts: FakeAccountNode): void {
  const { signal } = new AbortController()
  const { answer } = node
  const inContext = (value: unknown) => ({ result: { context: { slot: node.slot }, value } })
  node.answer = async (request) => {
    const [of, config] = (request.params ?? []) as [string | string[], Config?]
    switch (request.method) {
      case 'getMultipleAccounts': {
        const read = await accounts.accounts([of].flat().map(pubkeyFromBase58), signal)
        return inContext(read.accounts.map((each) => (each === null ? null : bodyOf(each))))
      }
      case 'getTokenAccountsByOwner': {
        const [wallet, program] = [of as string, config!.programId!].map(pubkeyFromBase58)
        return inContext(addressed((await accounts.tokenAccounts(wallet!, program!, signal)).accounts))
      }
      case 'getProgramAccounts': {
        const read = await accounts.programAccounts(pubkeyFromBase58(of as string), queryOf(config!), signal)
        return inContext(addressed(read.accounts))
      }
      case 'getEpochSchedule':
        return { result: { slotsPerEpoch: 432_000, firstNormalEpoch: 0, firstNormalSlot: 0 } }
      default:
        return answer(request)
    }
  }
}

function queryOf({ filters = [], dataSlice }: Config): ProgramAccountsQuery {
  const dataSize = filters.find((each) => each.dataSize !== undefined)?.dataSize
  const memcmp = filters.flatMap(({ memcmp: filter }) =>
    filter === undefined ? [] : [{ offset: filter.offset, bytes: decodeBase58(filter.bytes) }]
  )
  return {
    memcmp,
    ...(dataSize !== undefined && { dataSize }),
    ...(dataSlice !== undefined && { dataSlice })
  }
}

const addressed = (accounts: readonly AddressedAccount[]): unknown =>
  accounts.map(({ address, account }) => ({ pubkey: pubkeyToBase58(address), account: bodyOf(account) }))

const bodyOf = ({ lamports, owner, executable, data }: Account): unknown => ({
  lamports: Number(lamports),
  owner: pubkeyToBase58(owner),
  executable,
  rentEpoch: 2 ** 64,
  data: [Buffer.from(data).toString('base64'), 'base64'],
  space: data.length
})
