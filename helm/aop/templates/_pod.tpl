{{/*
One pod of ours. dict:
  root, component (selector), kind (service account), arguments (of `aop`), env (YAML text), ports (list), resources,
  grace (seconds), probes (file | http | none), priority, restart (Always unless given), folder (where it starts), mounts, volumes
*/}}
{{- define "aop.podTemplate" -}}
{{- $v := .root.Values -}}
metadata:
  labels:
    {{- include "aop.labels" . | nindent 4 }}
    {{- with $v.pod.labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    {{- if $v.catalog.files }}
    checksum/catalog: {{ $v.catalog.files | toJson | sha256sum }}
    {{- end }}
    checksum/settings: {{ include "aop.env" .root | sha256sum }}
    {{- with $v.pod.annotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  {{- include "aop.podSpec" . | nindent 2 }}
{{- end -}}

{{- define "aop.podSpec" -}}
{{- $v := .root.Values -}}
serviceAccountName: {{ include "aop.serviceAccount" . }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .restart }}
restartPolicy: {{ . }}
{{- end }}
terminationGracePeriodSeconds: {{ .grace | int64 }}
{{- with .priority }}
priorityClassName: {{ . }}
{{- end }}
{{- with $v.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
securityContext:
  {{- include "aop.podSecurity" .root | nindent 2 }}
{{- with $v.pod.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $v.pod.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $v.pod.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- if and $v.pod.topologyKey (not .restart) }}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: {{ $v.pod.topologyKey }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "aop.selector" . | nindent 8 }}
{{- end }}
{{- with $v.pod.initContainers }}
initContainers:
  {{- toYaml . | nindent 2 }}
{{- end }}
containers:
  - name: aop
    image: {{ include "aop.image" .root }}
    imagePullPolicy: {{ $v.image.pullPolicy }}
    {{- with .folder }}
    workingDir: {{ . }}
    {{- end }}
    args:
      {{- toYaml .arguments | nindent 6 }}
    env:
      {{- include "aop.env" .root | nindent 6 }}
      {{- with .env }}
      {{- . | nindent 6 }}
      {{- end }}
      {{- include "aop.guardExtraEnv" (dict "extra" $v.pod.extraEnv "own" (list (include "aop.env" .root) .env)) }}
      {{- with $v.pod.extraEnv }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
    {{- with .ports }}
    ports:
      {{- range $name, $port := . }}
      - name: {{ $name }}
        containerPort: {{ $port }}
      {{- end }}
    {{- end }}
    securityContext:
      {{- include "aop.containerSecurity" .root | nindent 6 }}
    resources:
      {{- toYaml .resources | nindent 6 }}
    {{- if eq .probes "file" }}
    startupProbe:
      {{- include "aop.fileProbe" (dict "name" "alive" "age" 30) | nindent 6 }}
      periodSeconds: 2
      failureThreshold: 60
    livenessProbe:
      {{- include "aop.fileProbe" (dict "name" "alive" "age" 60) | nindent 6 }}
      periodSeconds: 20
      failureThreshold: 3
      timeoutSeconds: 5
    readinessProbe:
      {{- include "aop.fileProbe" (dict "name" "ready" "age" 20) | nindent 6 }}
      periodSeconds: 10
      timeoutSeconds: 5
    {{- else if eq .probes "http" }}
    startupProbe:
      httpGet: {path: /healthz, port: http}
      periodSeconds: 2
      failureThreshold: 60
    livenessProbe:
      httpGet: {path: /healthz, port: http}
      periodSeconds: 20
      timeoutSeconds: 5
    readinessProbe:
      httpGet: {path: /readyz, port: http}
      periodSeconds: 5
      timeoutSeconds: 5
    {{- end }}
    volumeMounts:
      - {name: scratch, mountPath: /tmp}
      - {name: run, mountPath: /run/aop}
      {{- if include "aop.catalogName" .root }}
      - {name: catalog, mountPath: /etc/aop/catalog, readOnly: true}
      {{- end }}
      {{- if $v.redis.caSecret.name }}
      - {name: redis-ca, mountPath: /etc/aop/redis-ca, readOnly: true}
      {{- end }}
      {{- if $v.store.caSecret.name }}
      - {name: store-ca, mountPath: /etc/aop/store-ca, readOnly: true}
      {{- end }}
      {{- with .mounts }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
      {{- with $v.pod.extraVolumeMounts }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
volumes:
  - name: scratch
    emptyDir: {sizeLimit: {{ $v.pod.scratchSize | quote }}}
  - name: run
    emptyDir: {medium: Memory, sizeLimit: 1Mi}
  {{- with include "aop.catalogName" .root }}
  - name: catalog
    configMap: {name: {{ . }}}
  {{- end }}
  {{- with $v.redis.caSecret.name }}
  - name: redis-ca
    secret: {secretName: {{ . }}}
  {{- end }}
  {{- with $v.store.caSecret.name }}
  - name: store-ca
    secret: {secretName: {{ . }}}
  {{- end }}
  {{- with .volumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- with $v.pod.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{/* A process touches its file while it is well (docs/operations.md). */}}
{{- define "aop.fileProbe" -}}
exec:
  command: ["sh", "-c", "find /run/aop/{{ .name }} -newermt '-{{ .age }} seconds' | grep -q ."]
{{- end -}}

{{- define "aop.podSecurity" -}}
runAsNonRoot: true
runAsUser: {{ .Values.pod.runAsUser | int64 }}
runAsGroup: {{ .Values.pod.runAsUser | int64 }}
fsGroup: {{ .Values.pod.runAsUser | int64 }}
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "aop.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}
