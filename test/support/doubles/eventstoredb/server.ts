import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import {
  Server,
  ServerCredentials,
  type sendUnaryData,
  type ServerUnaryCall,
  type ServiceDefinition,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js'
import features, { type SupportedMethods } from '@eventstore/db-client/generated/serverfeatures_pb.js'
import featuresGrpc from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js'
import gossipGrpc from '@eventstore/db-client/generated/gossip_grpc_pb.js'
import streamsGrpc from '@eventstore/db-client/generated/streams_grpc_pb.js'
import type { Empty } from '@eventstore/db-client/generated/shared_pb.js'
import type { ClusterInfo } from '@eventstore/db-client/generated/gossip_pb.js'
import { withAccess } from './rpc/access.ts'
import type { Faults } from './faults.ts'
import { answerHttp } from './rpc/http-calls.ts'
import { gossipMessage, VERSION, type ServingNode } from './node.ts'
import { readCall } from './rpc/read-calls.ts'
import { createListener } from './rpc/two-protocols.ts'
import { writeCalls } from './rpc/write-calls.ts'

export interface ServerOptions {
  /** Creates the node. Its argument returns the port of the server. */
  readonly node: (port: () => number) => ServingNode
  readonly faults: Faults
  /** 0: a free port. */
  readonly port: number
  /** Key and certificate (PEM); null: no TLS. */
  readonly tls: { readonly key: string; readonly certificate: string } | null
  /** `user:password` that every call needs; null: no account. */
  readonly account: string | null
}

const supportedMethods = (
  _: ServerUnaryCall<Empty, SupportedMethods>,
  callback: sendUnaryData<SupportedMethods>,
): void => {
  const supported = new features.SupportedMethods()
  supported.setEventStoreServerVersion(VERSION)
  const { append, delete: remove, read } = streamsGrpc.StreamsService as unknown as ServiceDefinition
  for (const path of [append, remove, read].map((method) => method?.path ?? '')) {
    const [, service = '', method = ''] = path.toLowerCase().split('/')
    const entry = new features.SupportedMethod()
    entry.setServiceName(service)
    entry.setMethodName(method)
    supported.addMethods(entry)
  }
  callback(null, supported)
}

const members =
  (node: ServingNode) =>
  (_: ServerUnaryCall<Empty, ClusterInfo>, callback: sendUnaryData<ClusterInfo>): void =>
    callback(null, gossipMessage(node))

export interface RunningServer {
  readonly port: number
  /** Breaks all connections. New connections are accepted. */
  readonly dropAll: () => void
  /** Breaks all connections and refuses new connections. */
  readonly close: () => Promise<void>
}

/** Serves a node over gRPC and HTTP/1.1 on 127.0.0.1. It owns the sockets, so it can break connections. */
export const startServer = async ({
  node: nodeAt,
  faults,
  port,
  tls,
  account,
}: ServerOptions): Promise<RunningServer> => {
  const sockets = new Set<Socket>()
  const dropAll = (): void => {
    for (const socket of sockets) socket.resetAndDestroy()
  }
  const boundPort = (): number => (listener.address() as AddressInfo).port
  const node = nodeAt(boundPort)
  const parts = { node, faults, dropAll }
  const server = new Server({ 'grpc.max_receive_message_length': 17 * 1024 * 1024 })
  const add = (service: unknown, calls: unknown): void =>
    server.addService(service as ServiceDefinition, withAccess(calls as UntypedServiceImplementation, account))
  add(streamsGrpc.StreamsService, { ...writeCalls(parts), read: readCall(parts) })
  add(featuresGrpc.ServerFeaturesService, { getSupportedMethods: supportedMethods })
  add(gossipGrpc.GossipService, { read: members(node) })
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure())
  const http1 = createServer(answerHttp(node, account))
  const listener = createListener({ http2: (socket) => injector.injectConnection(socket), http1, tls })
  listener.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    socket.on('error', () => undefined)
  })
  await new Promise<void>((resolve, reject) => {
    listener.once('error', reject)
    listener.listen(port, '127.0.0.1', resolve)
  })
  const close = async (): Promise<void> => {
    dropAll()
    server.forceShutdown()
    await new Promise((resolve) => listener.close(resolve))
  }
  return { port: boundPort(), dropAll, close }
}
