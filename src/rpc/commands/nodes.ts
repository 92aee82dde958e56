import { requestsOf, SERVICE, type CommandGroup, type Row } from '../../kernel/cli/command.ts'

const request = requestsOf({
  ...SERVICE,
  details: 'Sends requests to a running service. The key needs the scope `admin`.'
})

export const NODES: CommandGroup = {
  summary: 'Lists, cordons and frees the nodes behind the RPC URL.',
  verbs: {
    list: request({
      summary: 'Lists the nodes with their state, recent requests and budget.',
      examples: ['millrace nodes list --key $KEY', 'millrace nodes list --json --key $KEY'],
      endpoint: async () => (await import('../routes/admin-nodes.ts')).listNodes,
      columns: 'id state cordoned behind requests errors latency_ms limit learned left reason',
      lines: lineOf
    }),
    cordon: request({
      summary: 'Takes a node out of use for the RPC URL, in all processes, until it is freed.',
      examples: ['millrace nodes cordon rpc.example.org:8899 --key $KEY'],
      endpoint: async () => (await import('../routes/admin-nodes.ts')).cordonNode,
      operands: { ID: 'id' },
      lines: lineOf
    }),
    free: request({
      summary: 'Returns a cordoned node to use.',
      examples: ['millrace nodes free rpc.example.org:8899 --key $KEY'],
      endpoint: async () => (await import('../routes/admin-nodes.ts')).freeNode,
      operands: { ID: 'id' },
      lines: lineOf
    })
  }
}

/** Returns the fields of a node for one line of a table. */
function lineOf(row: Row): Row {
  const { limit, learned, left } = (row.budget ?? {}) as Record<string, number | null>
  const whole = (value: number | null | undefined): number | null =>
    value === null || value === undefined ? null : Math.floor(value)
  return {
    id: row.id,
    state: row.state,
    cordoned: row.cordoned_at,
    behind: row.slots_behind,
    requests: row.requests,
    errors: row.errors,
    latency_ms: row.latency_ms,
    limit,
    learned: whole(learned),
    left: whole(left),
    reason: row.reason
  }
}
