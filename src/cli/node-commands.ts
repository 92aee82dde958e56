import type { SettingName } from '../config/config.ts'
import { command, type CommandGroup } from './command.ts'

const settings = ['key', 'host', 'port'] as const satisfies readonly SettingName[]
const details = 'Sends requests to a running service. The key needs the scope `admin`.'
const options = {
  json: { meaning: 'print JSON objects instead of a table' },
  url: { value: 'URL', meaning: 'the service; default: http://HOST:PORT of the settings' }
} as const

export const NODES: CommandGroup = {
  summary: 'Lists, cordons and frees the nodes behind the RPC URL.',
  verbs: {
    list: command({
      summary: 'Lists the nodes with their state, recent requests and budget.',
      details,
      options,
      settings,
      examples: ['millrace nodes list --key $KEY', 'millrace nodes list --json --key $KEY'],
      run: async (invocation) => (await import('./nodes.ts')).listNodes(invocation)
    }),
    cordon: command({
      summary: 'Takes a node out of use for the RPC URL, in all processes, until it is freed.',
      details,
      operands: 'ID',
      options,
      settings,
      examples: ['millrace nodes cordon rpc.example.org:8899 --key $KEY'],
      run: async (invocation) => (await import('./nodes.ts')).cordonNode(invocation)
    }),
    free: command({
      summary: 'Returns a cordoned node to use.',
      details,
      operands: 'ID',
      options,
      settings,
      examples: ['millrace nodes free rpc.example.org:8899 --key $KEY'],
      run: async (invocation) => (await import('./nodes.ts')).freeNode(invocation)
    })
  }
}
