import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parseAllDocuments } from 'yaml'
import { z } from 'zod'
import { readConfig } from '../../src/configuration.ts'
import { live, ready } from '../../src/edge/routes/probes.ts'
import { ROLES } from '../../src/fleet/work.ts'
import { deploymentRefusal } from '../../src/kernel/config/deployment.ts'
import { ROOT } from '../house/sources.ts'

const FILE = join(ROOT, 'src/operations/kubernetes/millrace.yaml')
/** Seconds that the drain of a process takes at most, with its kill. */
const DRAIN_SECONDS = 12

const labels = z.record(z.string(), z.string())
const probe = z.strictObject({
  httpGet: z.strictObject({ path: z.string(), port: z.literal('http') }),
  periodSeconds: z.int(),
  timeoutSeconds: z.int().optional(),
  failureThreshold: z.int()
})
const resource = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() })
})
const deployment = resource.extend({
  kind: z.literal('Deployment'),
  spec: z.looseObject({
    replicas: z.int(),
    selector: z.strictObject({ matchLabels: labels }),
    template: z.looseObject({
      metadata: z.strictObject({ labels }),
      spec: z.looseObject({
        terminationGracePeriodSeconds: z.int(),
        containers: z.tuple([
          z.looseObject({
            args: z.array(z.string()),
            ports: z.array(z.strictObject({ name: z.string(), containerPort: z.int() })),
            startupProbe: probe,
            livenessProbe: probe,
            readinessProbe: probe
          })
        ])
      })
    })
  })
})
const configMap = resource.extend({ kind: z.literal('ConfigMap'), data: labels })
const selecting = resource.extend({
  spec: z.looseObject({ selector: z.union([z.strictObject({ matchLabels: labels }), labels]) })
})

const documents = parseAllDocuments(readFileSync(FILE, 'utf8'), { strict: true, uniqueKeys: true })
const all = documents.map((document) => {
  for (const problem of [...document.errors, ...document.warnings]) throw problem
  return resource.parse(document.toJS({ maxAliasCount: 100 }))
})
const deployments = all.filter(({ kind }) => kind === 'Deployment').map((each) => deployment.parse(each))
const { data: settings } = configMap.parse(all.find(({ kind }) => kind === 'ConfigMap'))

t.test('each role has a deployment of two processes or more, whose settings the service takes', async (t) => {
  const roles: string[] = []
  for (const { spec } of deployments) {
    const { args, ports } = spec.template.spec.containers[0]
    const [command, ...flags] = args
    t.equal(command, 'serve')
    const secret = {
      MILLRACE_WEBHOOK_SECRET_KEY: 'a'.repeat(64),
      MILLRACE_ADMIN_KEY: 'of the operator, long'.replaceAll(' ', '-')
    }
    const reading = readConfig(flags, { ...settings, ...secret })
    if (reading.kind === 'invalid') throw new Error(reading.problems.join('\n'))
    t.equal(deploymentRefusal(reading.config), null)
    t.ok(spec.replicas >= 2)
    t.equal(ports[0]?.containerPort, reading.config.port)
    t.ok(
      spec.template.spec.terminationGracePeriodSeconds >= reading.config.drainDelaySeconds + DRAIN_SECONDS,
      'it is not killed while it drains'
    )
    roles.push(...reading.config.role)
  }
  t.same(roles.toSorted(), [...ROLES].toSorted())
})

t.test('probes ask paths that the service has, and the delay outlasts the readiness probe', async (t) => {
  for (const { spec } of deployments) {
    const { startupProbe, livenessProbe, readinessProbe } = spec.template.spec.containers[0]
    t.equal(startupProbe.httpGet.path, live.path)
    t.equal(livenessProbe.httpGet.path, live.path)
    t.equal(readinessProbe.httpGet.path, ready.path)
    const { periodSeconds, timeoutSeconds = 1, failureThreshold } = readinessProbe
    const noticedAfter = periodSeconds * failureThreshold + timeoutSeconds
    t.ok(Number(settings['MILLRACE_DRAIN_DELAY_SECONDS']) > noticedAfter, `${noticedAfter} s`)
  }
})

t.test('services and disruption budgets select pods that a deployment has', async (t) => {
  const pods = deployments.map(({ spec }) => spec.template.metadata.labels)
  for (const { spec } of deployments) t.same(spec.selector.matchLabels, spec.template.metadata.labels)
  const selectors = all
    .filter(({ kind }) => kind === 'Service' || kind === 'PodDisruptionBudget')
    .map((each) => selecting.parse(each).spec.selector)
  t.ok(selectors.length > deployments.length)
  for (const selector of selectors) {
    const wanted = ('matchLabels' in selector ? selector.matchLabels : selector) as Record<string, string>
    t.ok(
      pods.some((pod) => Object.entries(wanted).every(([name, value]) => pod[name] === value)),
      JSON.stringify(wanted)
    )
  }
})
