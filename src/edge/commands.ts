import { BadUsage, command, type Commands } from '../kernel/cli/command.ts'

/** Commands that run the service, and show its configuration. */
export const EDGE_COMMANDS: Commands = {
  serve: command({
    position: 10,
    summary: 'Runs the service.',
    details:
      'Without a source it runs a localnet. SIGTERM or SIGINT drains the service; a second signal ends it at once.',
    options: {
      child: {
        value: 'NUMBER',
        meaning: 'number of this process among those of --processes; set by the process that starts them'
      }
    },
    settings: 'all',
    examples: [
      'millrace serve',
      'millrace serve --source rpc --rpc-url https://NODE --archive-rpc-url https://ARCHIVE',
      'millrace serve --storage scylla --redis-url redis://HOST --source rpc --rpc-url https://NODE --processes 4'
    ],
    run: async (invocation) => {
      const { child } = invocation.options
      if (child !== undefined && process.send === undefined)
        throw new BadUsage('--child is only for processes that --processes starts')
      if (invocation.config.processes > 1)
        return (await import('./commands/serve-processes.ts')).serveProcesses(invocation)
      const { isMemoryTight } = await import('../kernel/config/memory-budget.ts')
      if (isMemoryTight(invocation.config)) {
        ;(await import('../kernel/memory/small-heap.ts')).keepYoungHeapSmall()
        ;(await import('../kernel/memory/late-compilation.ts')).compileLate()
      }
      ;(await import('../kernel/memory/allocator.ts')).holdLessFreeMemory()
      const { serve } = await import('./commands/serve.ts')
      if (child === undefined) return serve(invocation)
      const [{ ParentLink }, { systemPorts }] = await Promise.all([
        import('./commands/parent-link.ts'),
        import('../ports.ts')
      ])
      return serve(invocation, new ParentLink(Number(child), process, systemPorts.clock))
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
