import { COMMITMENTS } from './commitment.ts'
import type { MethodTable, RpcMethod, RpcParameter } from './methods.ts'

const SCHEMAS: Readonly<Record<RpcParameter['type'], object>> = {
  string: { type: 'string' },
  integer: { type: 'integer', minimum: 0 },
  strings: { type: 'array', items: { type: 'string' } },
  config: {
    type: 'object',
    properties: {
      commitment: { type: 'string', enum: COMMITMENTS },
      minContextSlot: { type: 'integer', minimum: 0 }
    }
  }
}

/** Returns the OpenRPC document of the methods that are served. */
export function openRpcOf(methods: MethodTable, version: string): object {
  return {
    openrpc: '1.3.2',
    info: {
      title: 'Millrace JSON-RPC',
      version,
      description:
        'JSON-RPC of a Solana node at POST /v1/rpc, and over a WebSocket at the same URL. Parameters are passed by position.'
    },
    servers: [
      { name: 'this service', url: '/v1/rpc' },
      {
        name: 'WebSocket',
        url: '/v1/rpc',
        summary: 'A handshake at the same URL, or at /v1/rpc/ws',
        description: 'Answers the same requests, and opens subscriptions.'
      }
    ],
    methods: methods.served.map(methodOf)
  }
}

function methodOf({ name, group, summary, params, scope, cache, refusesProcessed }: RpcMethod): object {
  return {
    name,
    summary,
    tags: [{ name: group }],
    paramStructure: 'by-position',
    params: params.map(({ name: parameter, type, isRequired }) => ({
      name: parameter,
      required: isRequired,
      schema: SCHEMAS[type]
    })),
    result: { name: 'result', schema: {} },
    'x-scope': scope,
    'x-cache': cache,
    ...(refusesProcessed && { 'x-commitments': COMMITMENTS.filter((each) => each !== 'processed') })
  }
}
