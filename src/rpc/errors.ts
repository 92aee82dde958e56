import { errorKinds, final } from '../kernel/error-kind.ts'

/** Errors of the nodes behind the RPC URL. */
export const RPC_ERRORS = errorKinds({
  NODE_NOT_FOUND: final(404, 'node_not_found', 'Node not found', {
    meaning: 'The process has no node with this id behind the RPC URL, and none is cordoned under it.',
    remedy: 'List the nodes with GET /v1/admin/nodes.',
    example: 'there is no node rpc.example.org:8899'
  })
})
