import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { Server, ServerCredentials, type sendUnaryData, type ServerUnaryCall, type ServiceDefinition, type UntypedServiceImplementation } from '@grpc/grpc-js'
import features from '@eventstore/db-client/generated/serverfeatures_pb.js'
import featuresGrpc from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js'
import gossip from '@eventstore/db-client/generated/gossip_pb.js'
import gossipGrpc from '@eventstore/db-client/generated/gossip_grpc_pb.js'
import streamsGrpc from '@eventstore/db-client/generated/streams_grpc_pb.js'
import type { Empty } from '@eventstore/db-client/generated/shared_pb.js'
import type { ClusterInfo } from '@eventstore/db-client/generated/gossip_pb.js'
import type { SupportedMethods } from '@eventstore/db-client/generated/serverfeatures_pb.js'
import { withAccess } from './access.ts'
import type { EventLog } from './event-log.ts'
import type { Faults } from './faults.ts'
import { answerHttp } from './http-calls.ts'
import { readCall } from './read-calls.ts'
import { scavenge } from './scavenge.ts'
import { createListener } from './two-protocols.ts'
import { writeCalls } from './write-calls.ts'

/** The version that was recorded. */
const VERSION = '23.10.6'

export interface ServerOptions {
  readonly log: EventLog
  readonly faults: Faults
  /** 0 is a free one. */
  readonly port: number
  /** PEM; without it the server is insecure. */
  readonly tls: { readonly key: string; readonly certificate: string } | null
  /** `user:password` that every call must bring; null lets all in. */
  readonly account: string | null
}

const supportedMethods = (_: ServerUnaryCall<Empty, SupportedMethods>, callback: sendUnaryData<SupportedMethods>): void => {
  const supported = new features.SupportedMethods()
  supported.setEventStoreServerVersion(VERSION)
  for (const { path } of Object.values(streamsGrpc.StreamsService as unknown as ServiceDefinition)) {
    const [, service = '', method = ''] = path.toLowerCase().split('/')
    const entry = new features.SupportedMethod()
    entry.setServiceName(service)
    entry.setMethodName(method)
    supported.addMethods(entry)
  }
  callback(null, supported)
}

/** A cluster of this one node, which leads it. */
const members = (port: () => number) => (_: ServerUnaryCall<Empty, ClusterInfo>, callback: sendUnaryData<ClusterInfo>): void => {
  const endPoint = new gossip.EndPoint()
  endPoint.setAddress('127.0.0.1')
  endPoint.setPort(port())
  const member = new gossip.MemberInfo()
  member.setState(gossip.MemberInfo.VNodeState.LEADER)
  member.setIsAlive(true)
  member.setTimeStamp('0')
  member.setHttpEndPoint(endPoint)
  const cluster = new gossip.ClusterInfo()
  cluster.addMembers(member)
  callback(null, cluster)
}

export interface RunningServer {
  readonly port: number
  /** Breaks every connection; new ones are taken. */
  readonly dropAll: () => void
}

/** Serves the log over gRPC on the loopback address. The sockets are ours, so that connections can be broken. */
export const startServer = async ({ log, faults, port, tls, account }: ServerOptions): Promise<RunningServer> => {
  const sockets = new Set<Socket>()
  const dropAll = (): void => {
    for (const socket of sockets) socket.resetAndDestroy()
  }
  const boundPort = (): number => (listener.address() as AddressInfo).port
  const parts = { log, faults, dropAll }
  const server = new Server({ 'grpc.max_receive_message_length': 17 * 1024 * 1024 })
  const add = (service: unknown, calls: unknown): void =>
    server.addService(service as ServiceDefinition, withAccess(calls as UntypedServiceImplementation, account))
  add(streamsGrpc.StreamsService, { ...writeCalls(parts), read: readCall(parts) })
  add(featuresGrpc.ServerFeaturesService, { getSupportedMethods: supportedMethods })
  add(gossipGrpc.GossipService, { read: members(boundPort) })
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure())
  const http1 = createServer(
    answerHttp(
      {
        'POST /admin/scavenge': (response) =>
          response.setHeader('content-type', 'text/plain; charset=utf-8').end(`ScavengeId: ${scavenge(log)}`),
      },
      account,
    ),
  )
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
  return { port: boundPort(), dropAll }
}
