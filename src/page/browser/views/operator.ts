import { h, type JSX } from 'preact'
import { Sections } from '../sections.ts'
import { IndexSection } from './operator/index-state.ts'
import { NodesSection } from './operator/nodes.ts'
import { TenantsSection } from './operator/tenants.ts'
import { TreeSection } from './operator/tree.ts'

const SECTIONS = {
  tree: ['Process tree', TreeSection],
  nodes: ['Sources and nodes', NodesSection],
  index: ['Coverage, decoder, storage', IndexSection],
  tenants: ['Tenants and keys', TenantsSection]
} as const

/** The state of the service: an admin key sees it all, another key sees why not. */
export function OperatorView({ argument }: { readonly argument: string }): JSX.Element {
  return h(Sections, { view: 'operator', name: 'Operator', sections: SECTIONS, chosen: argument })
}
