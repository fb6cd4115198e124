{{- define "aop.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* Release and chart, short enough that a worker's name still fits behind it. */}}
{{- define "aop.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains (include "aop.name" .) .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "aop.name" .) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* dict root component */}}
{{- define "aop.selector" -}}
app.kubernetes.io/name: {{ include "aop.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{/* dict root component */}}
{{- define "aop.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{ include "aop.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
app.kubernetes.io/part-of: aop
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* dict root component name: the head of every object */}}
{{- define "aop.metadata" -}}
metadata:
  name: {{ .name }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "aop.labels" . | nindent 4 }}
    {{- with .labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with mergeOverwrite (dict) (.annotations | default dict) .root.Values.commonAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{- define "aop.serviceAccount" -}}
{{- if .root.Values.serviceAccount.create -}}
{{ include "aop.fullname" .root }}-{{ .kind }}
{{- else -}}
{{ required "serviceAccount.existingName is needed where serviceAccount.create is false" .root.Values.serviceAccount.existingName }}
{{- end -}}
{{- end -}}

{{- define "aop.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "aop.catalogName" -}}
{{- if .Values.catalog.existingConfigMap -}}
{{ .Values.catalog.existingConfigMap }}
{{- else if .Values.catalog.files -}}
{{ include "aop.fullname" . }}-catalog
{{- end -}}
{{- end -}}
