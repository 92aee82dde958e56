import { command, type Commands } from '../kernel/cli/command.ts'

/** Commands that run the service, and show its configuration. */
export const EDGE_COMMANDS: Commands = {
  serve: command({
    position: 10,
    summary: 'Runs the service.',
    details:
      'Without a source it runs a localnet. SIGTERM or SIGINT drains the service; a second signal ends it at once.',
    settings: 'all',
    examples: [
      'millrace serve',
      'millrace serve --source rpc --rpc-url https://NODE --archive-rpc-url https://ARCHIVE'
    ],
    run: async (invocation) => {
      const { isMemoryTight } = await import('../kernel/config/memory-budget.ts')
      if (isMemoryTight(invocation.config)) {
        ;(await import('../kernel/memory/small-heap.ts')).keepYoungHeapSmall()
        ;(await import('../kernel/memory/late-compilation.ts')).compileLate()
        ;(await import('../kernel/memory/free-memory.ts')).shareArenas()
      }
      return (await import('./commands/serve.ts')).serve(invocation)
    }
  }),
  config: command({
    position: 60,
    summary: 'Prints the effective configuration as JSON, secrets masked.',
    settings: 'all',
    examples: ['millrace config --storage scylla'],
    run: async (invocation) => (await import('./commands/config.ts')).config(invocation)
  })
}
