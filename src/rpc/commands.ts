import {
  command,
  requestsOf,
  SERVICE,
  type CommandGroup,
  type Commands,
  type Row
} from '../kernel/cli/command.ts'

const request = requestsOf({
  ...SERVICE,
  details: 'Sends requests to a running service. The key needs the scope `admin`.'
})

const NODES: CommandGroup = {
  position: 140,
  summary: 'Lists, cordons and frees the nodes behind the RPC URL.',
  verbs: {
    list: request({
      summary: 'Lists the nodes with their state, recent requests and budget.',
      examples: ['millrace nodes list --key $KEY', 'millrace nodes list --json --key $KEY'],
      endpoint: async () => (await import('./routes/admin-nodes.ts')).listNodes,
      columns: 'id state cordoned behind requests errors latency_ms limit learned left reason',
      lines: lineOf
    }),
    cordon: request({
      summary: 'Takes a node out of use for the RPC URL, in all processes, until it is freed.',
      examples: ['millrace nodes cordon rpc.example.org:8899 --key $KEY'],
      endpoint: async () => (await import('./routes/admin-nodes.ts')).cordonNode,
      operands: { ID: 'id' },
      lines: lineOf
    }),
    free: request({
      summary: 'Returns a cordoned node to use.',
      examples: ['millrace nodes free rpc.example.org:8899 --key $KEY'],
      endpoint: async () => (await import('./routes/admin-nodes.ts')).freeNode,
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

export const RPC_COMMANDS: Commands = {
  conformance: command({
    position: 40,
    summary: 'Compares the RPC URL with a node: every method, with good and bad parameters.',
    details:
      'Slots may differ between the two. Without a node it checks the form of the answers. With ws: URLs it sends the requests over sockets, and compares subscriptions if both URLs are sockets. Then it checks the URLs that clients derive from this one, what pages get, malformed bodies, and accounts of programs, and lists what was not checked. Exits with 1 if a client would notice a difference.',
    options: {
      against: { value: 'URL', meaning: 'RPC or socket URL of the service, with its key' },
      node: { value: 'URL', meaning: 'RPC or socket URL of a node to compare with' },
      origin: { value: 'ORIGIN', meaning: 'an origin that the key lists: check what its pages get' },
      program: {
        value: 'ADDRESS',
        multiple: true,
        meaning: 'a mirrored program whose accounts are compared with the node; may be repeated'
      },
      'deadline-ms': {
        value: 'MS',
        meaning: 'MILLRACE_RPC_DEADLINE_MS of the service: no answer may take longer'
      }
    },
    settings: [],
    examples: [
      'millrace conformance --against http://127.0.0.1:8900/v1/rpc?api-key=$KEY --node https://NODE'
    ],
    run: async (invocation) => (await import('./commands/conformance.ts')).conformance(invocation)
  }),
  nodes: NODES
}
