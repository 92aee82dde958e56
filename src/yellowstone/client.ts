import type * as Package from '@triton-one/yellowstone-grpc'
import type * as Native from '@triton-one/yellowstone-grpc/napi'
import type { Commitment } from '../market/rows.ts'
import { faultOf, StreamError } from './failure.ts'

/** A subscription that is open. */
export interface UpdateStream {
  /** The bytes of the next message, or null at the end; rejects with StreamError. One at a time. */
  read(): Promise<Uint8Array | null>
  /** Answers a ping, for servers and balancers that drop who does not. */
  answerPing(): void
  /** Ends it; a read under way may stay without an answer. */
  close(): void
}

/** Opens a subscription to whole blocks, from a slot on or from the newest one; rejects with StreamError. */
export type OpenStream = (fromSlot: number | null) => Promise<UpdateStream>

export interface ServerAddress {
  /** `http://` or `https://`, with host and port. */
  readonly url: string
  readonly token: string | undefined
  readonly commitment: Commitment
}

/** A mainnet block is 3 to 10 MB; one above this is refused by the client. */
export const MESSAGE_BYTES_MAX = 128 * 2 ** 20
/**
 * What may be under way towards us without being read: the client reads a message when it is asked for one, and beyond
 * this the server has to wait. A block or two, so that a distant server sends at its full rate.
 */
const WINDOW_BYTES = 16 * 2 ** 20

const CHANNEL = {
  grpcConnectTimeout: 10_000,
  grpcMaxDecodingMessageSize: MESSAGE_BYTES_MAX,
  grpcInitialConnectionWindowSize: WINDOW_BYTES,
  grpcInitialStreamWindowSize: WINDOW_BYTES,
  // A peer that is gone without a word is found out, so that nothing of a connection is left.
  grpcHttp2KeepAliveInterval: 10_000,
  grpcKeepAliveTimeout: 10_000,
  grpcKeepAliveWhileIdle: true,
  grpcTcpNodelay: true
} as const

/** The client's two parts; a test gives others. */
export interface YellowstonePackage {
  readonly SubscribeRequest: typeof Package.SubscribeRequest
  readonly GrpcClient: typeof Native.GrpcClient
}

/** The package is native and optional: there are platforms that it is not built for. */
export async function loadYellowstone(): Promise<YellowstonePackage> {
  const { GrpcClient } = await import('@triton-one/yellowstone-grpc/napi')
  const { SubscribeRequest } = await import('@triton-one/yellowstone-grpc')
  return { GrpcClient, SubscribeRequest }
}

/**
 * Subscribes to blocks with transactions through the native client, below its decoded stream: a block is one message,
 * whole or not there at all, and its bytes go to our reader as they come. Each subscription has a connection of its own.
 *
 * Transactions with block metas are the other way. They leave votes out at the server, but are a message each, which
 * costs more to receive than the votes do, and tell nobody whether all of a block came
 * (loadtest/results/yellowstone.json).
 */
export function openStreams(
  { url, token, commitment }: ServerAddress,
  load: () => Promise<YellowstonePackage> = loadYellowstone
): OpenStream {
  return async (fromSlot) => {
    const { GrpcClient, SubscribeRequest } = await load().catch((error: unknown) => {
      throw cannotLoad(error)
    })
    const encode = (request: Partial<Package.SubscribeRequest>): Buffer =>
      Buffer.from(SubscribeRequest.encode(SubscribeRequest.fromPartial(request)).finish())
    const request = encode({
      blocks: {
        blocks: {
          accountInclude: [],
          includeTransactions: true,
          includeAccounts: false,
          includeEntries: false
        }
      },
      commitment: COMMITMENT_LEVEL[commitment],
      fromSlot: fromSlot === null ? undefined : String(fromSlot)
    })
    const answer = encode({ ping: { id: 1 } })
    const failed = (error: unknown): never => {
      throw new StreamError(faultOf(error, token), { cause: error })
    }
    const client = await GrpcClient.new(url, token, CHANNEL).catch(failed)
    const stream = await client.subscribe(request).catch(failed)
    return {
      read: async () => (await stream.read().catch(failed)) ?? null,
      // Whether it arrives shows in what the server does next.
      answerPing: () => void stream.writeRaw(answer).catch(() => undefined),
      close: () => stream.close()
    }
  }
}

/** geyser.CommitmentLevel */
const COMMITMENT_LEVEL = { processed: 0, confirmed: 1, finalized: 2 } as const

function cannotLoad(error: unknown): StreamError {
  const [line] = String(error instanceof Error ? error.message : error).split('\n')
  const where = `${process.platform} ${process.arch}`
  const reason = `cannot be asked: the package @triton-one/yellowstone-grpc does not load on ${where} (${line})`
  return new StreamError({ remedy: 'never', reason }, { cause: error })
}
