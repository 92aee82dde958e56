import { command, type Commands, type Option } from '../kernel/cli/command.ts'
import { INPUT_NAMES, INPUTS, PLAN_SOURCES, PLAN_STORES } from './inputs.ts'

const numberOptions = Object.fromEntries(
  INPUT_NAMES.map((name): [string, Option] => {
    const { value, meaning, fallback } = INPUTS[name]
    return [
      name,
      { value, meaning: meaning.includes('default') ? meaning : `${meaning}; default: ${fallback}` }
    ]
  })
)

/** Commands that compute what a service will take. */
export const CAPACITY_COMMANDS: Commands = {
  plan: command({
    position: 98,
    summary: 'Computes disk, memory, cores and node requests of a workload, by product.',
    details:
      'Needs no service and no store. The figures follow from measurements (src/docs/capacity.md): disk and memory are good to ' +
      'half, cores to a factor of two, because they depend on the machine.',
    options: {
      ...numberOptions,
      source: { value: 'SOURCE', meaning: `${PLAN_SOURCES.join(' or ')}; default: ${PLAN_SOURCES[0]}` },
      storage: { value: 'STORE', meaning: `${PLAN_STORES.join(' or ')}; default: ${PLAN_STORES[0]}` },
      json: { meaning: 'print one JSON object instead of a table' }
    },
    settings: [],
    examples: [
      'millrace plan --trades-per-day 5000000 --watches 200 --webhooks 50',
      'millrace plan --streams 1000 --stream-events-per-second 20 --retention-days 30 --json'
    ],
    run: async (invocation) => (await import('./commands/plan.ts')).plan(invocation)
  })
}
