import type { FastifyPluginAsync } from 'fastify'
import { endpoint } from '../../kernel/http/endpoint.ts'
import type { HttpKernel } from '../../kernel/http/http-kernel.ts'
import { serve } from '../../kernel/http/serve.ts'
import { fleetAnswer } from '../bodies/fleet.ts'
import type { Fleet, FleetProcess } from '../fleet.ts'
import { ROLES } from '../work.ts'

export const showFleet = endpoint({
  path: '/v1/admin/fleet',
  tag: 'Administration',
  summary: 'The processes of the service',
  description:
    'Every live process with its roles, version, newest slot and shards, this one first, then by start. A process that has not been heard for 5 s is left out.',
  scope: 'admin',
  answer: fleetAnswer,
  answersWhileDraining: true,
  examples: [{ name: 'all processes' }]
})

export interface FleetNeeds extends HttpKernel {
  readonly fleet: Fleet
}

export const adminFleetRoutes: FastifyPluginAsync<Pick<FleetNeeds, 'fleet'>> = async (app, { fleet }) => {
  serve(app, showFleet, async () => {
    const { processes, missingRoles, newestSlot, source } = fleet
    return {
      source,
      roles: ROLES.map((role) => ({
        ...{ role, processes: fleet.count(role) },
        is_missing: missingRoles.includes(role)
      })),
      data: processes.map((each) => processBody(each, newestSlot, fleet.differingOf(each.id))),
      nextCursor: null
    }
  })
}

const processBody = (
  { id, isThis, silentMs, announcement }: FleetProcess,
  newestSlot: number | null,
  differs: readonly string[]
) => {
  const { name, roles, products, version, startedAtMs, slot, shards, isDraining } = announcement
  return {
    ...{ id, name, is_this: isThis, roles, products, version, started_at: startedAtMs },
    state: isDraining ? ('draining' as const) : ('running' as const),
    slot,
    lag_slots: slot === null || newestSlot === null ? null : newestSlot - slot,
    ...{ shards, differs, heard_ms_ago: silentMs }
  }
}
